//! `ring_as_drawn`: the ring of each group, made again from the seed.
//!
//! With the records of a group in the order of the table, one number is drawn
//! for each record, then one for each value in the order of the domain, then
//! the shift. Values stand most frequent first, equally frequent ones by their
//! number, records of a value by theirs; they are dealt out in ⌊size / L⌋
//! rounds. The row of the record at place p covers the w records from place
//! p − shift on, where w is the least multiple of L that is at least K, and no
//! others.

use rand::{Rng, RngExt};

use crate::microdata::Role;
use crate::privacy::Seed;

use crate::verify::coverage::is_least;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::{NONE, View};

/// The check; groups with a row whose record is not known are left to the
/// checks that name it.
pub(super) fn ring_as_drawn(view: &View, groups: &EquivalenceClasses, seed: &Seed) -> Check {
    let mut failures = Failures::none();
    for group in 0..groups.len() {
        let rows = groups.rows(group);
        let is_known = |&row: &u32| view.records[row as usize] != NONE;
        if !rows.iter().all(is_known) {
            continue;
        }
        let ring = Ring::draw(view, rows, seed);
        for place in 0..ring.rows.len() {
            if !ring.is_covered(view, place) {
                let row = u64::from(ring.rows[place]) + 1;
                failures.add_at("group", Place::Row(row));
            }
        }
    }
    Check::structure("ring_as_drawn", &failures)
}

/// The rows of a group by the places of their records.
struct Ring {
    rows: Vec<u32>,
    window: usize,
    shift: usize,
}

impl Ring {
    fn draw(view: &View, rows: &[u32], seed: &Seed) -> Self {
        let record = |row: u32| view.records[row as usize];
        let mut members = rows.to_vec();
        members.sort_unstable_by_key(|&row| record(row));
        let first = members.first().map_or(0, |&row| record(row));
        let mut random = seed.stream(Seed::RINGS, first.into());
        let value = |row: u32| {
            let sensitive = view.protected().next();
            sensitive.and_then(|(_, sensitive)| view.source(sensitive, row as usize))
        };
        let drawn = members
            .iter()
            .map(|&row| (value(row), random.next_u64(), row));
        let mut drawn: Vec<_> = drawn.collect();
        drawn.sort_by_key(|&(value, number, row)| (value, number, record(row)));
        let mut runs: Vec<(usize, u64, Vec<u32>)> = Vec::new();
        for run in drawn.chunk_by(|one, other| one.0 == other.0) {
            let rows = run.iter().map(|&(.., row)| row).collect();
            runs.push((run.len(), random.next_u64(), rows));
        }
        runs.sort_by_key(|&(length, number, _)| (std::cmp::Reverse(length), number));
        let (k, l) = asked(view, rows);
        let window = l * k.div_ceil(l);
        let shift = random.random_range(0..window);
        let sorted: Vec<u32> = runs.into_iter().flat_map(|(.., rows)| rows).collect();
        let rounds = (sorted.len() / l).max(1);
        let mut dealt = Vec::with_capacity(sorted.len());
        for round in 0..rounds {
            dealt.extend(sorted[round..].iter().step_by(rounds));
        }
        Self {
            rows: dealt,
            window,
            shift,
        }
    }

    /// Whether the row of the record at `place` covers exactly what it should.
    fn is_covered(&self, view: &View, place: usize) -> bool {
        let size = self.rows.len();
        // A window is at most the group, so one more round is enough.
        let start = place + size - self.shift % size;
        let covered = (0..self.window).map(|step| self.rows[(start + step) % size]);
        let covered: Vec<u32> = covered.collect();
        let quasi = view.attributes.iter();
        let mut quasi = quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier);
        quasi.all(|attribute| {
            let codes = covered.iter();
            let codes = codes.filter_map(|&row| view.source(attribute, row as usize));
            let meaning = attribute.cells.meaning(self.rows[place] as usize);
            is_least(attribute, meaning, &mut codes.collect())
        })
    }
}

/// The strictest k of a group's members, and the strictest l of the sensitive
/// attribute; at least 1 each.
fn asked(view: &View, rows: &[u32]) -> (usize, usize) {
    let index = view.protected().next().map(|(index, _)| index.at());
    let terms = rows.iter().filter_map(|&row| view.terms(row as usize));
    let asked = terms.map(|terms| (terms.k, index.map_or(1, |index| terms.l[index])));
    let strictest = asked.fold((1, 1), |most, one| (most.0.max(one.0), most.1.max(one.1)));
    (strictest.0 as usize, strictest.1 as usize)
}
