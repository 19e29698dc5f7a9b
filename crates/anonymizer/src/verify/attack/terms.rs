//! Who asked for something, as far as the release tells (*ours*).
//!
//! Anyone who asks for a larger k or a stricter bound on values is in a group or
//! bucket that is larger, or whose cells are wider. The adversary knows
//! everybody's quasi-identifiers and so their classes (rows with one published
//! number), ranks classes by size and by width, and takes everyone above a
//! threshold for an asker. Figures, for those who ask for a k and for those
//! who ask something of values: the area under the ROC curve (0.5 tells
//! nothing), and the best precision of any threshold that selects enough
//! people.
//!
//! Where the policy bounds the share of askers among those who look like
//! askers, no threshold may attain more, nor more than the share of askers in
//! the whole table where that is larger already: then everyone is treated
//! alike. Which companion is above a threshold is chance, and the best of many
//! thresholds is looked at, so that five standard deviations of a draw of that
//! many people are allowed for. Where fewer than [`ASKERS_MIN`] ask for the
//! same kind, chance explains nearly every share, and nothing is decided. The
//! decision is made in integers.

use rayon::prelude::*;

use crate::microdata::{CodedColumn, Multiplicity, RecordIndex, Role};
use crate::privacy::{Model, RecordTerms, Share};
use crate::release::{Cells, PublishedTable};

use crate::verify::evidence::Evidence;
use crate::verify::verdict::{Check, Section};
use crate::verify::view::NONE;

/// With fewer who ask there is a figure, but no decision.
const ASKERS_MIN: u64 = 50;
/// A threshold that selects fewer is no attack.
const SELECTED_MIN: u64 = 20;
/// Standard deviations that chance may add, squared.
const CHANCE: u128 = 25;

/// What somebody may have asked for: name of its figures, and whether terms do
/// beyond those of anyone who says nothing.
type Ask = ([&'static str; 2], fn(&RecordTerms, &RecordTerms) -> bool);

const ASKS: [Ask; 2] = [
    (["auc_k", "precision_k"], |terms, silent| terms.k > silent.k),
    (["auc_values", "precision_values"], |terms, silent| {
        let mut l = terms.l.iter().zip(&silent.l);
        let mut shares = terms.max_share.iter().zip(&silent.max_share);
        l.any(|(own, none)| own > none) || shares.any(|(own, none)| own < none)
    }),
];

/// What one class shows, beside how many of it there are and asked, kind by kind.
#[derive(Clone, Copy)]
struct Class {
    width: u64,
    subjects: u32,
    askers: [u32; ASKS.len()],
}

/// `terms_visible`: what the rows about subjects tell of who asked.
pub fn terms_visible(evidence: &Evidence) -> Check {
    let policy = evidence.requirements.policy();
    let share_max = match policy.model {
        Model::Generalized {
            askers_share_max, ..
        }
        | Model::Personalized {
            askers_share_max, ..
        } => Some(askers_share_max),
        _ => None,
    };
    let mut check = Check::new(Section::Attack, "terms_visible");
    check.claimed = share_max.map(Share::get);
    let silent = RecordTerms::of_subject(evidence.table.schema(), policy, None);
    let Some(rows) = Rows::of(evidence) else {
        return check;
    };
    let of_all = rows.asking(evidence, |terms| terms.asks_beyond(&silent));
    let people = of_all.len();
    let bound = share_max.map(|share| Bound::of(share).or(count(&of_all), people as u64));
    drop(of_all);
    let asking = ASKS.map(|(_, asks)| rows.asking(evidence, |terms| asks(terms, &silent)));
    let bounds = asking
        .each_ref()
        .map(|asks| bound.filter(|_| count(asks) >= ASKERS_MIN));
    let found = rows.attacked(&asking, bounds);
    let kinds = ASKS.iter().zip(&asking).zip(bounds).zip(found);
    for (((&([auc, precision], _), asks), bound), figures) in kinds {
        if count(asks) == 0 {
            continue;
        }
        if share_max.is_some() && bound.is_none() {
            check.note = Some("so few asked that no share can be told from chance");
        }
        check.figures.push((auc, figures.auc));
        check.figures.push((precision, figures.precision));
        check.attained = Some(check.attained.unwrap_or(0.0).max(figures.precision));
        check.holds &= figures.holds;
    }
    check
}

fn count(asks: &[bool]) -> u64 {
    asks.iter().filter(|asks| **asks).count() as u64
}

/// A share as a fraction.
#[derive(Clone, Copy)]
struct Bound {
    parts: u128,
    whole: u128,
}

impl Bound {
    fn of(share: Share) -> Self {
        Self {
            parts: u128::from(share.parts()),
            whole: u128::from(Share::WHOLE_PARTS),
        }
    }

    /// The larger of it and `parts` of `whole`.
    fn or(self, parts: u64, whole: u64) -> Self {
        let (parts, whole) = (u128::from(parts), u128::from(whole.max(1)));
        if parts * self.whole > self.parts * whole {
            Self { parts, whole }
        } else {
            self
        }
    }

    /// Whether `askers` of `subjects` may be chance: with the share p as bound,
    /// (askers − p · subjects)² ≤ 25 · subjects · p · (1 − p).
    fn allows(self, askers: u64, subjects: u64) -> bool {
        let (askers, subjects) = (u128::from(askers), u128::from(subjects));
        let excess = (askers * self.whole).saturating_sub(subjects * self.parts);
        excess * excess <= CHANCE * subjects * self.parts * (self.whole - self.parts)
    }
}

/// Rows about subjects.
struct Rows<'a> {
    /// The record of each row's subject; the first, where there are several.
    record: Vec<u32>,
    /// The columns of numbers.
    numbers: Vec<&'a [u64]>,
    /// Quasi-identifiers, where a subject has one record.
    columns: Vec<&'a CodedColumn>,
}

/// What thresholds attain.
#[derive(Clone, Copy)]
struct Figures {
    auc: f64,
    precision: f64,
    holds: bool,
}

impl<'a> Rows<'a> {
    /// `None` where no rows have a lineage.
    fn of(evidence: &Evidence<'a>) -> Option<Self> {
        let source = evidence.table;
        if evidence.requirements.records() != source.records() {
            return None;
        }
        let lineage = evidence.lineage.tables.first()?;
        let published = evidence.published(&lineage.table)?;
        let subjects = lineage.subjects.iter();
        let schema = source.schema();
        let record = match schema.multiplicity() {
            // A subject's position is the record's.
            Multiplicity::One => {
                let known = |subject: u32| (subject as usize) < source.records();
                let record = |subject: u32| if known(subject) { subject } else { NONE };
                subjects.map(|subject| record(subject.0)).collect()
            }
            Multiplicity::Many => {
                let mut first = vec![NONE; source.subjects()];
                for record in (0..source.records()).rev() {
                    let subject = source.subject_of(RecordIndex::from_usize(record));
                    first[subject.at()] = record as u32;
                }
                let first = |at: usize| first.get(at).copied().unwrap_or(NONE);
                subjects
                    .map(|subject| first(subject.at()))
                    .collect::<Vec<u32>>()
            }
        };
        let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let columns = match schema.multiplicity() {
            Multiplicity::One => quasi.iter().filter_map(|&at| source.coded(at)).collect(),
            Multiplicity::Many => Vec::new(),
        };
        Some(Self {
            numbers: numbers(published, record.len()),
            record,
            columns,
        })
    }

    /// Whether the subject of each row asks.
    fn asking(&self, evidence: &Evidence, asks: impl Fn(&RecordTerms) -> bool) -> Vec<bool> {
        let terms = evidence.requirements.distinct_terms().iter();
        let asks: Vec<bool> = terms.map(asks).collect();
        let of_record = evidence.requirements.terms_of_record();
        let records = self.record.iter();
        records
            .map(|&record| record != NONE && asks[of_record.at(record as usize) as usize])
            .collect()
    }

    /// The best of all thresholds on every feature of every kind of class, for each
    /// kind that somebody may ask for. One kind of class after the other: each takes
    /// memory for all rows.
    fn attacked(
        &self,
        asks: &[Vec<bool>; ASKS.len()],
        bounds: [Option<Bound>; ASKS.len()],
    ) -> [Figures; ASKS.len()] {
        let mut found = asks.each_ref().map(|asks| Figures {
            auc: 0.5,
            precision: count(asks) as f64 / asks.len().max(1) as f64,
            holds: true,
        });
        for numbers in &self.numbers {
            let mut classes = self.classes(numbers, asks);
            for feature in [
                |class: &Class| u64::from(class.subjects),
                |class: &Class| class.width,
            ] {
                classes.sort_unstable_by_key(feature);
                for _ in 0..2 {
                    for (kind, figures) in found.iter_mut().enumerate() {
                        figures.take((&classes, kind), feature, bounds[kind]);
                    }
                    classes.reverse();
                }
            }
        }
        found
    }

    /// The rows with one number each; 0 names no class.
    fn classes(&self, numbers: &[u64], asks: &[Vec<bool>; ASKS.len()]) -> Vec<Class> {
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.retain(|&row| numbers[row as usize] != 0);
        if !numbers.is_sorted() {
            order.par_sort_unstable_by_key(|&row| (numbers[row as usize], row));
        }
        let same = |one: &u32, other: &u32| numbers[*one as usize] == numbers[*other as usize];
        let classes = order.par_chunk_by(same).map(|rows| Class {
            width: self.width(rows),
            subjects: rows.len() as u32,
            askers: asks.each_ref().map(|asks| {
                let asking = rows.iter().filter(|&&row| asks[row as usize]);
                asking.count() as u32
            }),
        });
        classes.collect()
    }

    /// How many codes the quasi-identifiers of some rows span, in parts of
    /// their domains.
    fn width(&self, rows: &[u32]) -> u64 {
        let widths = self.columns.iter().map(|column| {
            let records = rows.iter().map(|&row| self.record[row as usize]);
            let records = records.filter(|&record| record != NONE);
            let codes = records.map(|record| column.codes.at(record as usize));
            let (low, high) = codes.fold((u32::MAX, 0), |(low, high), code| {
                (low.min(code), high.max(code))
            });
            let span = u64::from(high.saturating_sub(low));
            span * Share::WHOLE_PARTS / column.domain.len().max(1) as u64
        });
        widths.sum()
    }
}

impl Figures {
    /// Thresholds on a feature, from the end of `classes`, which it sorts.
    fn take(
        &mut self,
        (classes, kind): (&[Class], usize),
        feature: impl Fn(&Class) -> u64,
        bound: Option<Bound>,
    ) {
        let (mut selected, mut asked, mut area) = (0, 0, 0.0);
        for run in classes
            .chunk_by(|one, other| feature(one) == feature(other))
            .rev()
        {
            let subjects: u64 = run.iter().map(|class| u64::from(class.subjects)).sum();
            let of_run: u64 = run.iter().map(|class| u64::from(class.askers[kind])).sum();
            area += (subjects - of_run) as f64 * (asked as f64 + of_run as f64 / 2.0);
            selected += subjects;
            asked += of_run;
            if selected >= SELECTED_MIN {
                self.precision = self.precision.max(asked as f64 / selected as f64);
                self.holds &= bound.is_none_or(|bound| bound.allows(asked, selected));
            }
        }
        let pairs = asked as f64 * (selected - asked) as f64;
        self.auc = self.auc.max(area / pairs.max(1.0));
    }
}

/// The columns of numbers of a table with so many rows.
fn numbers(table: &PublishedTable, rows: usize) -> Vec<&[u64]> {
    let columns = table.columns.iter();
    let numbers = columns.filter_map(|column| match &column.cells {
        Cells::Numbers(numbers) if numbers.len() == rows => Some(numbers.as_slice()),
        _ => None,
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_exceeded_only_beyond_chance() {
        let quarter = Bound { parts: 1, whole: 4 };
        // Of 1,200 a quarter is 300, a standard deviation 15.
        assert!(quarter.allows(375, 1_200));
        assert!(!quarter.allows(376, 1_200));
        assert!(quarter.allows(0, 1_200));
        // Where a third asks, a third may.
        let third = quarter.or(400, 1_200);
        assert!(third.allows(400, 1_200) && !third.allows(482, 1_200));
        assert!(Bound { parts: 4, whole: 4 }.allows(1_200, 1_200));
    }

    #[test]
    fn thresholds_attain_what_they_select() {
        let class = |subjects, askers| Class {
            width: 0,
            subjects,
            askers: [0, askers],
        };
        let mut figures = Figures {
            auc: 0.5,
            precision: 0.0,
            holds: true,
        };
        let classes = [class(10, 0), class(10, 0), class(40, 20)];
        let bound = Some(Bound { parts: 1, whole: 4 });
        figures.take((&classes, 1), |class| class.subjects.into(), bound);
        assert_eq!((figures.auc, figures.precision), (0.75, 0.5));
        assert!(figures.holds, "twenty of forty may be chance");
    }
}
