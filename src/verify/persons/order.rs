//! `row_order_independent` for persons: against the source, each subject's
//! lowest and highest value of each quasi-identifier, their first value of
//! each sensitive attribute, and the number of their values.

use rayon::prelude::*;

use super::super::row_order::{ROWS_MIN, of_orders, spearman};
use super::super::verdict::Check;
use super::view::PersonsView;

pub(super) fn row_order_independent(view: &PersonsView) -> Check {
    let subjects: Vec<u32> = (0..view.rows())
        .filter_map(|row| view.subject(row))
        .collect();
    if subjects.len() < ROWS_MIN {
        return of_orders(subjects.len(), &[]);
    }
    let order = |value: &dyn Fn(u32) -> u32, values: usize| {
        spearman(subjects.iter().map(|&subject| value(subject)), values)
    };
    let mut found = vec![(None, order(&|subject| subject, view.subjects))];
    found.par_extend(view.quasi.par_iter().flat_map_iter(|attribute| {
        let [low, high] = [&attribute.source.low, &attribute.source.high]
            .map(|codes| order(&|subject| codes[subject as usize], attribute.domain.len()));
        let both = [low, high.filter(|_| attribute.source.disagrees())];
        both.map(|rho| (Some(attribute.name), rho))
    }));
    found.par_extend(view.sensitive.par_iter().map(|attribute| {
        let first = |subject| attribute.source.of_subject(subject).first().copied();
        let rho = order(
            &|subject| first(subject).unwrap_or(0),
            attribute.domain.len(),
        );
        (Some(attribute.name), rho)
    }));
    let number = |subject| {
        let attributes = view.sensitive.iter();
        let numbers = attributes.map(|attribute| attribute.source.of_subject(subject).len());
        numbers.sum::<usize>() as u32
    };
    let most = subjects.iter().map(|&subject| number(subject)).max();
    found.push((None, order(&number, most.unwrap_or(0) as usize + 1)));
    of_orders(subjects.len(), &found)
}
