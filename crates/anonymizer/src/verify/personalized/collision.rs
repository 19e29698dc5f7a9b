//! The attack `collision`: what single values that were generalized tell.
//!
//! Where a node stands beside nodes under it, values were generalized because
//! they collided with what is published more exactly; a reader takes the node
//! for one of those. The figure is the largest probability of a subject's own
//! value that such a reader comes to, and how many subjects are named with
//! certainty. Nothing bounds it: the manifest says that it is not protected.

use super::leakage::value;
use super::published::{Fractions, Published, Span};
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::View;

pub(super) fn collision(view: &View, alike: &EquivalenceClasses, published: &Published) -> Check {
    let mut worst: Option<(f64, u64)> = None;
    let mut certain = 0_u64;
    for class in 0..alike.len() {
        let rows = alike.rows(class);
        let nodes = &published.of_class[class];
        let group = alike.group_number(view.group, class);
        let lower: Vec<Vec<Span>> = (0..nodes.len()).map(|at| under(nodes, at)).collect();
        for &row in rows {
            let Some(leaf) = published.leaf_of_row[row as usize] else {
                continue;
            };
            let leak = leak(published, nodes, &lower, leaf);
            let probability = value(&leak, rows.len() as u64);
            certain += u64::from(probability >= 1.0);
            if worst.is_none_or(|(most, _)| probability > most) {
                worst = Some((probability, group));
            }
        }
    }
    Check::new(Section::Attack, "collision")
        .about(published.name)
        .attaining(
            worst.map(|(probability, _)| probability),
            worst.map(|(_, group)| Place::Group(group)),
        )
        .with_figure("subjects_named_with_certainty", certain as f64)
        .noting("takes a node beside more specific ones under it for one of those")
}

/// The outermost of the nodes strictly under one; nodes ascend by first leaf,
/// the wider first.
fn under(nodes: &[(Span, u64)], at: usize) -> Vec<Span> {
    let (_, last) = nodes[at].0;
    let mut outermost: Vec<Span> = Vec::new();
    for &(span, _) in nodes[at + 1..]
        .iter()
        .take_while(|(span, _)| span.0 <= last)
    {
        if outermost.last().is_none_or(|before| span.0 > before.1) {
            outermost.push(span);
        }
    }
    outermost
}

fn leak(published: &Published, nodes: &[(Span, u64)], lower: &[Vec<Span>], leaf: u32) -> Fractions {
    let own = published.weight((leaf, leaf));
    let covers = |span: &Span| span.0 <= leaf && leaf <= span.1;
    let covering = nodes
        .iter()
        .zip(lower)
        .filter(|((span, _), _)| covers(span));
    let fractions = covering.filter_map(|(&(span, count), lower)| {
        if lower.is_empty() {
            return Some((count * own, published.weight(span)));
        }
        let among = lower.iter().map(|&span| published.weight(span)).sum();
        lower.iter().any(covers).then_some((count * own, among))
    });
    fractions.collect()
}
