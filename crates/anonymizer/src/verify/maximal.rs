//! Subjects who are excluded though their terms could be met.
//!
//! Subjects who ask for too much may be excluded, but an engine must not choose: a
//! subject who asks for something and is absent without need is a message. So
//! of the engines whose rule for leaving is about everyone together, those
//! published must be *maximal*: no absent asker could be put back alone. With
//! one asker put back, all that are then there are taken as one group of n
//! records, and some condition must fail, for the asker or for somebody
//! published:
//! - for every published sensitive attribute: (most frequent value) × L ≤ n, L
//!   the strictest l of all; and its share of n is within the smallest share
//!   that anybody names (`RecordTerms::l` and `max_share`: blocks have the
//!   job's l in it, `mondrian` has subjects' terms alone);
//! - of own k: K ≤ n, K the strictest of all; in rings, where L records in a
//!   row differ, the least multiple of L that is at least K; where
//!   quasi-identifiers are published exactly, only as many records with the
//!   asker's own vector as the asker asks for: others have no fewer than
//!   before.
//!
//! Where all conditions hold for everyone as one group, one group is a valid
//! release; so nothing else can stand in the way of an asker. Which of several
//! maximal sets is published is not examined.
//!
//! `personalized` has a rule of its own, about one subject at a time
//! (`personalized::needless`). Of the other engines, whose subjects leave for
//! reasons of buckets, fingerprints or clusters, nothing is said here.

use rustc_hash::FxHashMap;

use crate::microdata::{AttributeIndex, Code, CodedColumn, RecordIndex, Role, Table};
use crate::privacy::{BlockForm, Model, ProtectedIndex, RecordTerms, Requirements, Share};

use super::personalized;

/// How an own k is counted where everyone is one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KRule {
    /// All records.
    Members,
    /// Records with the same quasi-identifiers.
    Alike,
    /// All records, as many as a window of a ring has.
    Window,
}

/// Number of `absent` who could be put back alone, each by one record;
/// `is_published` tells who has a row, by subject.
pub(super) fn without_need(
    table: &Table,
    requirements: &Requirements,
    is_published: &[bool],
    absent: &[RecordIndex],
) -> usize {
    let policy = requirements.policy();
    let all = requirements.protected();
    let (rule, attributes): (KRule, Vec<ProtectedIndex>) = match policy.model {
        Model::Generalized { .. } => (KRule::Members, all.collect()),
        Model::Blocks {
            form, sensitive, ..
        } => (
            k_rule(form),
            all.filter(|&at| sensitive.contains(at)).collect(),
        ),
        Model::Personalized { .. } => {
            let published = is_published.iter().filter(|&&published| published).count();
            return personalized::without_need(table, requirements, published as u64, absent);
        }
        _ => return 0,
    };
    if absent.is_empty() {
        return 0;
    }
    let records = 0..table.records().min(requirements.records());
    let records = records.map(RecordIndex::from_usize);
    let published: Vec<RecordIndex> = records
        .filter(|&record| is_published[table.subject_of(record).at()])
        .collect();
    let everyone = Everyone::of((table, requirements), &attributes, &published);
    let alike = match rule {
        KRule::Alike => Alike::of(table, &published, absent),
        _ => Alike::default(),
    };
    let could_be = |&&record: &&RecordIndex| {
        let terms = requirements.of(record);
        let k_holds = match rule {
            KRule::Members => u64::from(everyone.k.max(terms.own.k)) <= everyone.size + 1,
            KRule::Alike => u64::from(terms.own.k) <= alike.with(record),
            KRule::Window => everyone.window_with(terms) <= everyone.size + 1,
        };
        k_holds && everyone.keeps_values_with(record, terms)
    };
    absent.iter().filter(could_be).count()
}

fn k_rule(form: BlockForm) -> KRule {
    match form {
        BlockForm::Distinct | BlockForm::Eligible | BlockForm::Randomized { .. } => KRule::Alike,
        BlockForm::Generalized | BlockForm::Sliced => KRule::Members,
        BlockForm::Ring => KRule::Window,
    }
}

/// Those published, as one group.
struct Everyone<'a> {
    size: u64,
    /// The strictest own k.
    k: u32,
    attributes: Vec<Counted<'a>>,
}

/// One sensitive attribute of those published.
struct Counted<'a> {
    at: usize,
    column: &'a CodedColumn,
    counts: Vec<u64>,
    most: u64,
    /// The strictest l and share of anybody.
    l: u32,
    share: Share,
}

impl<'a> Everyone<'a> {
    fn of(
        (table, requirements): (&'a Table, &Requirements),
        attributes: &[ProtectedIndex],
        published: &[RecordIndex],
    ) -> Self {
        let distinct = requirements.distinct_terms();
        let mut occurs = vec![false; distinct.len()];
        for record in published {
            occurs[requirements.terms_of_record().at(record.at()) as usize] = true;
        }
        let terms = || {
            let pairs = distinct.iter().zip(&occurs);
            pairs.filter_map(|(terms, &occurs)| occurs.then_some(terms))
        };
        let counted = |&index: &ProtectedIndex| {
            let column = table.coded(requirements.attribute(index))?;
            let mut counts = vec![0_u64; column.domain.len()];
            let codes = published.iter().map(|&record| column.code(record));
            codes.for_each(|code| counts[code.at()] += 1);
            Some(Counted {
                at: index.at(),
                column,
                most: counts.iter().copied().max().unwrap_or(0),
                counts,
                l: terms().map(|terms| terms.l[index.at()]).max().unwrap_or(1),
                share: terms()
                    .map(|terms| terms.max_share[index.at()])
                    .min()
                    .unwrap_or(Share::ALL),
            })
        };
        Self {
            size: published.len() as u64,
            k: terms().map(|terms| terms.own.k).max().unwrap_or(1),
            attributes: attributes.iter().filter_map(counted).collect(),
        }
    }

    /// Records that a window of a ring of everyone and somebody with these
    /// terms has.
    fn window_with(&self, terms: &RecordTerms) -> u64 {
        let attributes = self.attributes.iter();
        let asked = attributes.map(|attribute| attribute.l.max(terms.l[attribute.at]));
        let l = u64::from(asked.max().unwrap_or(1));
        u64::from(self.k.max(terms.own.k)).div_ceil(l) * l
    }

    /// Whether no value is too frequent for anybody with this record there.
    fn keeps_values_with(&self, record: RecordIndex, terms: &RecordTerms) -> bool {
        let size = self.size + 1;
        self.attributes.iter().all(|attribute| {
            let own = attribute.counts[attribute.column.code(record).at()] + 1;
            let most = attribute.most.max(own);
            let l = attribute.l.max(terms.l[attribute.at]);
            let share = attribute.share.min(terms.max_share[attribute.at]);
            u128::from(most) * u128::from(l) <= u128::from(size) && share.allows(most, size)
        })
    }
}

/// How many of those published have the vector of somebody absent.
#[derive(Default)]
struct Alike<'a> {
    columns: Vec<&'a CodedColumn>,
    number: FxHashMap<Vec<Code>, u64>,
}

impl<'a> Alike<'a> {
    fn of(table: &'a Table, published: &[RecordIndex], absent: &[RecordIndex]) -> Self {
        let schema = table.schema();
        let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let columns = quasi.into_iter();
        let columns = columns.filter_map(|at: AttributeIndex| table.coded(at));
        let mut alike = Self {
            columns: columns.collect(),
            number: FxHashMap::default(),
        };
        for &record in absent {
            let vector = alike.vector(record);
            alike.number.insert(vector, 0);
        }
        for &record in published {
            let vector = alike.vector(record);
            if let Some(number) = alike.number.get_mut(&vector) {
                *number += 1;
            }
        }
        alike
    }

    fn vector(&self, record: RecordIndex) -> Vec<Code> {
        let columns = self.columns.iter();
        columns.map(|column| column.code(record)).collect()
    }

    /// Number with the vector of somebody absent, themselves included.
    fn with(&self, record: RecordIndex) -> u64 {
        self.number
            .get(&self.vector(record))
            .map_or(1, |&number| number + 1)
    }
}
