//! The rules of randomization: exact quasi-identifiers beside sensitive values
//! that were kept or drawn from the values of the group.
//!
//! - `values_of_their_group`: a row shows a value that some record of its
//!   group has; no two records of a group have the same, and there are at
//!   least L of them.
//! - `randomized_response`: the largest probability of a value of one record,
//!   given all rows of its group and its values (`outcomes`), at most what is
//!   claimed. Groups with a row whose quasi-identifiers somebody shows who
//!   asks for less keep nothing: there every value is as likely as any other,
//!   and so it is in every group that such a row is in.
//! - `values_as_drawn`: each row shows what the seed of the run draws for its
//!   record, drawn again here: its own value or one of its group.
//! - `max_leakage`: each subject's own l against the probability in their
//!   group, and their own k against rows with the same quasi-identifiers.

use rand::RngExt;

use crate::privacy::{BlockForm, ProtectedIndex, Seed, Share};

use super::floor;
use super::outcomes::largest_posterior;
use super::rows::{Ways, cover};
use crate::verify::leakage::{Ratio, Worst};
use crate::verify::verdict::{Check, Failures, Place, Section};
use crate::verify::view::{AttributeView, View};

/// Adds the checks of randomization.
pub(super) fn verify(
    view: &View,
    ways: &Ways,
    form: BlockForm,
    seed: &Seed,
    (worst, checks): (&mut Worst, &mut Vec<Check>),
) {
    let BlockForm::Randomized {
        retention,
        max_posterior,
    } = form
    else {
        return;
    };
    checks.extend(cover(view, true));
    identity(view, ways, worst);
    for (index, attribute) in view.protected() {
        let reading = Reading {
            view,
            ways,
            index,
            attribute,
            retention,
            max_posterior,
            own_of_class: own_of_class(view, ways, index),
            seed,
        };
        checks.push(reading.values());
        checks.push(reading.as_drawn());
        checks.push(reading.response(worst));
    }
}

/// How many rows show each subject's quasi-identifiers, against their own k.
fn identity(view: &View, ways: &Ways, worst: &mut Worst) {
    for row in 0..view.rows() {
        if let Some(terms) = view.terms(row) {
            let size = ways.alike.sizes[ways.alike.class(row)];
            worst.take_k(terms.k, size, Place::Row(row as u64 + 1));
        }
    }
}

/// The strictest own l of everyone who shows the same quasi-identifiers.
fn own_of_class(view: &View, ways: &Ways, index: ProtectedIndex) -> Vec<u32> {
    let mut strictest = vec![1; ways.alike.len()];
    for (row, &class) in ways.alike.of_rows().iter().enumerate() {
        if let Some(terms) = view.terms(row) {
            let strictest = &mut strictest[class as usize];
            *strictest = terms.own.l[index.at()].max(*strictest);
        }
    }
    strictest
}

struct Reading<'a> {
    view: &'a View<'a>,
    ways: &'a Ways,
    index: ProtectedIndex,
    attribute: &'a AttributeView<'a>,
    retention: Share,
    max_posterior: Share,
    own_of_class: Vec<u32>,
    seed: &'a Seed,
}

impl Reading<'_> {
    /// Source values of a group's records, ascending, and what its rows show.
    fn group(&self, group: usize) -> (Vec<u32>, Vec<Option<u32>>) {
        let rows = self.ways.groups.rows(group).iter();
        let source = rows.clone();
        let source = source.filter_map(|&row| self.view.source(self.attribute, row as usize));
        let mut source: Vec<u32> = source.collect();
        source.sort_unstable();
        let shown = rows.map(|&row| self.attribute.cells.meaning(row as usize).single());
        (source, shown.collect())
    }

    /// The l that a row's subject, or anyone who looks like them, asks for.
    fn own(&self, row: u32) -> u32 {
        self.own_of_class[self.ways.alike.class(row as usize)]
    }

    /// Whether values of a group may be kept.
    fn keeps(&self, group: usize) -> bool {
        let rows = self.ways.groups.rows(group);
        let in_block = self.retention.posterior_in_block(rows.len() as u32);
        let mut rows = rows.iter();
        in_block <= self.max_posterior
            && rows.all(|&row| self.max_posterior.allows_times(self.own(row)))
    }

    fn values(&self) -> Check {
        let mut failures = Failures::none();
        for group in 0..self.ways.groups.len() {
            let rows = self.ways.groups.rows(group);
            let number = self.ways.groups.group_number(self.view.group, group);
            let (source, shown) = self.group(group);
            for (row, shown) in rows.iter().zip(shown) {
                let is_known = shown.is_some_and(|code| source.binary_search(&code).is_ok());
                if !is_known {
                    failures.add_at(self.attribute.name, Place::Row(u64::from(*row) + 1));
                }
            }
            let asked = rows.iter();
            let asked =
                asked.filter_map(|&row| Some(self.view.terms(row as usize)?.l[self.index.at()]));
            let floor = floor(self.view.requirements, self.index);
            let demanded = asked.max().unwrap_or(floor).max(floor);
            let is_repeated = source.windows(2).any(|pair| pair[0] == pair[1]);
            if is_repeated || source.len() < demanded as usize {
                failures.add_at(self.attribute.name, Place::Group(number));
            }
        }
        Check::structure("values_of_their_group", &failures)
    }

    /// The largest probability, group by group.
    fn response(&self, worst: &mut Worst) -> Check {
        let (mut largest, mut beyond): (Option<(f64, u64)>, u64) = (None, 0);
        for group in 0..self.ways.groups.len() {
            let number = self.ways.groups.group_number(self.view.group, group);
            let (source, shown) = self.group(group);
            let counts = source.iter().map(|&code| {
                let rows = shown.iter().filter(|&&shown| shown == Some(code));
                rows.count() as u64
            });
            let counts: Vec<u64> = counts.collect();
            let keeps = self.keeps(group);
            let posterior = if keeps {
                largest_posterior(&counts, self.retention.get())
            } else {
                1.0 / counts.len().max(1) as f64
            };
            // A hair of slack for sums of fractions; the claim was rounded up.
            let is_beyond = posterior > self.max_posterior.get() + 1e-9;
            beyond += u64::from(is_beyond);
            if largest.is_none_or(|(known, _)| posterior > known) {
                largest = Some((posterior, number));
            }
            for &row in self.ways.groups.rows(group) {
                worst.take(ratio(
                    posterior,
                    self.own(row),
                    (counts.len(), keeps),
                    number,
                ));
            }
        }
        Check::new(Section::Guarantee, "randomized_response")
            .about(self.attribute.name)
            .claiming(self.max_posterior.get())
            .attaining(
                largest.map(|(posterior, _)| posterior),
                largest.map(|(_, number)| Place::Group(number)),
            )
            .holding(beyond == 0)
            .with_figure("groups_beyond", beyond as f64)
            .with_figure("retention", self.retention.get())
            .noting("largest probability of a value of one record, given all rows of its group")
    }

    /// Rows that do not show what the seed draws for their record.
    fn as_drawn(&self) -> Check {
        let mut failures = Failures::none();
        for group in 0..self.ways.groups.len() {
            let rows = self.ways.groups.rows(group);
            let (source, shown) = self.group(group);
            let keeps = self.keeps(group);
            for (&row, shown) in rows.iter().zip(shown) {
                let own = self.view.source(self.attribute, row as usize);
                if own.is_some() && shown != self.drawn(row, (own, keeps), &source) {
                    failures.add_at(self.attribute.name, Place::Row(u64::from(row) + 1));
                }
            }
        }
        Check::structure("values_as_drawn", &failures)
    }

    /// What the seed draws for the record of a row: its own value or one of
    /// its group's `values`, which ascend.
    fn drawn(&self, row: u32, (own, keeps): (Option<u32>, bool), values: &[u32]) -> Option<u32> {
        let record = self.view.records[row as usize];
        let mut random = self.seed.stream(Seed::RANDOMIZED_RESPONSE, record.into());
        let part = random.random_range(0..Share::WHOLE_PARTS as u32);
        if keeps && part < self.retention.parts() {
            return own;
        }
        values
            .get(random.random_range(0..values.len().max(1)))
            .copied()
    }
}

/// The ratio of a posterior to what a subject accepts; exact where nothing is
/// kept.
fn ratio(posterior: f64, own: u32, (size, keeps): (usize, bool), number: u64) -> Ratio {
    let place = Place::Group(number);
    if keeps {
        Ratio {
            attained: (posterior * f64::from(own) * 1e9).round() as u128,
            accepted: 1_000_000_000,
            place,
        }
    } else {
        Ratio {
            attained: u128::from(own),
            accepted: size as u128,
            place,
        }
    }
}
