//! Shares of single values and nodes among the subjects of a group.
//!
//! A fingerprint that few share can still give a value away that many have:
//! everyone of a group whose fingerprints differ may have had the flu. The
//! guarantee `value_l` (*ours*) bounds the share of every exactly published
//! value; the attack `value_shares` reports the largest share of a value and
//! of a node below the root, attribute by attribute, whatever was claimed.
//!
//! A subject is known to have a value under a node if a member of their
//! fingerprint lies under it. A group's shares take (members) × (depth) steps.

use rayon::prelude::*;

use crate::microdata::Code;

use super::partition::Partition;
use super::view::{PersonsView, SensitiveView};
use crate::verify::diversity::known_to_within;
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::NONE;
use crate::verify::ways::{Worse, worst};

/// A share of a group's subjects.
#[derive(Clone, Copy, Debug)]
struct Part {
    count: u64,
    size: u64,
    place: Place,
}

impl Part {
    /// The larger share, in integers.
    fn or_larger(self, other: Self) -> Self {
        let own = u128::from(self.count) * u128::from(other.size);
        if own >= u128::from(other.count) * u128::from(self.size) {
            self
        } else {
            other
        }
    }

    fn get(self) -> f64 {
        self.count as f64 / self.size.max(1) as f64
    }
}

/// The largest shares of one attribute in one partition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    value: Option<Part>,
    node: Option<Part>,
    /// Groups where some value has too large a share.
    above: u64,
}

/// Largest shares by partition, then by attribute; `value_l` is the claim.
pub(super) fn shares(
    view: &PersonsView,
    partitions: &[Partition],
    value_l: u32,
) -> Vec<Vec<Shares>> {
    let parts = partitions.iter();
    let parts = parts.map(|partition| {
        let attributes = view.sensitive.par_iter();
        attributes
            .map(|attribute| Counter::new(view).shares(partition, attribute, value_l))
            .collect()
    });
    parts.collect()
}

/// The guarantee `value_l`: attained is the least, over groups and values, of
/// size / (subjects with the value), rounded down.
pub(super) fn value_l(shares: &[Vec<Shares>], claimed: u32) -> Check {
    let checks = shares.iter().map(|attributes| {
        let values = attributes.iter().filter_map(|shares| shares.value);
        let largest = values.reduce(Part::or_larger);
        let above: u64 = attributes.iter().map(|shares| shares.above).sum();
        Check::new(Section::Guarantee, "value_l")
            .claiming(f64::from(claimed))
            .attaining(
                largest.map(|part| (part.size / part.count.max(1)) as f64),
                largest.map(|part| part.place),
            )
            .holding(above == 0)
            .with_figure("groups_below_l", above as f64)
    });
    let worst = worst(checks.collect(), Worse::Less);
    worst.unwrap_or_else(|| Check::not_examined(Section::Guarantee, "value_l"))
}

/// The attack `value_shares` of each attribute: attained is the largest share
/// of an exactly published value. Of numbers and dates it also says what the
/// values of a group span.
pub(super) fn value_shares(
    view: &PersonsView,
    partitions: &[Partition],
    shares: &[Vec<Shares>],
) -> Vec<Check> {
    let attributes = view.sensitive.iter().enumerate();
    let checks = attributes.map(|(at, attribute)| {
        let all = || {
            shares
                .iter()
                .filter_map(move |attributes| attributes.get(at))
        };
        let value = all()
            .filter_map(|shares| shares.value)
            .reduce(Part::or_larger);
        let node = all()
            .filter_map(|shares| shares.node)
            .reduce(Part::or_larger);
        let check = Check::new(Section::Attack, "value_shares")
            .about(attribute.name)
            .attaining(value.map(Part::get), value.map(|part| part.place))
            .noting("largest share of a group's subjects who are known to have a value");
        let check = match node {
            Some(node) => check.with_figure("node_below_root", node.get()),
            None => check,
        };
        let spans = partitions.iter();
        let spans = spans.flat_map(|partition| spans_of_groups(view, partition, attribute));
        known_to_within(check, attribute.domain, spans)
    });
    checks.collect()
}

/// What the members of all fingerprints of each group span, from the lowest
/// known number under one to the highest; of groups with a known number.
fn spans_of_groups(
    view: &PersonsView,
    partition: &Partition,
    attribute: &SensitiveView,
) -> Vec<f64> {
    let domain = attribute.domain;
    if !domain.is_numeric() {
        return Vec::new();
    }
    // The missing number comes after all others.
    let known = domain.len() - usize::from(domain.missing().is_some());
    let groups = (0..partition.classes.len()).filter_map(|class| {
        let rows = partition.classes.rows(class).iter();
        let nodes = rows.flat_map(|&row| &attribute.fingerprint(row as usize).nodes);
        let nodes = nodes.map(|&at| view.trees.node(at));
        let nodes = nodes.filter(|node| (node.first as usize) < known);
        let ends = nodes.map(|node| (node.first, node.last.min(known as u32 - 1)));
        let (low, high) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        Some(domain.number(Code(high)) - domain.number(Code(low)))
    });
    groups.collect()
}

/// Counts subjects by node, group after group.
struct Counter<'a> {
    view: &'a PersonsView<'a>,
    counts: Vec<u64>,
    /// The row that a node was last counted for.
    counted_for: Vec<u32>,
    touched: Vec<u32>,
}

impl<'a> Counter<'a> {
    fn new(view: &'a PersonsView<'a>) -> Self {
        Self {
            view,
            counts: vec![0; view.trees.len()],
            counted_for: vec![NONE; view.trees.len()],
            touched: Vec::new(),
        }
    }

    fn shares(&mut self, partition: &Partition, attribute: &SensitiveView, value_l: u32) -> Shares {
        let mut shares = Shares::default();
        for class in 0..partition.classes.len() {
            for &row in partition.classes.rows(class) {
                self.count(attribute, row);
            }
            let mut above = false;
            for &at in &self.touched {
                let node = self.view.trees.node(at);
                let part = Part {
                    count: self.counts[at as usize],
                    size: partition.classes.sizes[class],
                    place: partition.place(self.view, class),
                };
                let (largest, is_value) = if node.is_exact() {
                    (&mut shares.value, true)
                } else {
                    (&mut shares.node, false)
                };
                *largest = Some(largest.map_or(part, |largest| largest.or_larger(part)));
                above |= is_value
                    && u128::from(part.count) * u128::from(value_l) > u128::from(part.size);
                self.counts[at as usize] = 0;
            }
            shares.above += u64::from(above);
            for at in self.touched.drain(..) {
                self.counted_for[at as usize] = NONE;
            }
        }
        shares
    }

    /// Counts a row for its members and all that is above them, but the root.
    fn count(&mut self, attribute: &SensitiveView, row: u32) {
        if self.view.subject(row as usize).is_none() {
            return;
        }
        for &member in &attribute.fingerprint(row as usize).nodes {
            let mut at = member;
            loop {
                let node = self.view.trees.node(at);
                if node.is_root || self.counted_for[at as usize] == row {
                    break;
                }
                self.counted_for[at as usize] = row;
                if self.counts[at as usize] == 0 {
                    self.touched.push(at);
                }
                self.counts[at as usize] += 1;
                at = node.parent;
            }
        }
    }
}
