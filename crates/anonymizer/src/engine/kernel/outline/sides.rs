//! What each side of a cut must keep, decided by counts: the strictest k of its
//! members, and of each sensitive attribute what the job and its members ask.
//!
//! What is asked of values is asked in the form of the job's model. Where values
//! are published beside groups it is all that a group must keep, so that everyone
//! on a side could be one group. Where they stand in buckets or blocks it is what
//! lets a side be divided into them: no value too frequent for anyone who protects
//! it. What holds of neither by counts (leakage, fingerprints) is left to the engine.

use crate::engine::context::WholeTable;
use crate::engine::kernel::closeness::Reference;
use crate::engine::kernel::diversity::is_diverse;
use crate::engine::kernel::is_eligible;
use crate::engine::kernel::known::known_ends;
use crate::microdata::{AttributeIndex, Code, Multiplicity, Table};
use crate::privacy::{Diversity, ProtectedIndex, Protection, RecordTerms, Requirements, Share, T};

/// What stands on one side of a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Records.
    pub records: u64,
    /// Records with each of the distinct terms.
    pub of_terms: Vec<u64>,
    /// For each attribute whose values are asked about: how often each code occurs
    /// among the records that protect it.
    pub values: Vec<Vec<u64>>,
}

/// What each side must keep.
pub struct SideRule {
    terms: Vec<TermsRule>,
    least: u64,
    attributes: Vec<AttributeRule>,
}

/// What one of the distinct terms asks.
struct TermsRule {
    k: u64,
    /// Of each attribute that is asked about: whether its value is protected, the
    /// l and the largest share.
    values: Vec<Option<(u32, Share)>>,
    /// Whether everyone together cannot give what they ask.
    is_unmet: bool,
}

struct AttributeRule {
    index: ProtectedIndex,
    attribute: AttributeIndex,
    domain: usize,
    missing: Option<u32>,
    asked: Asked,
}

/// What the job asks of the values of one attribute.
enum Asked {
    /// Of those of every group.
    OfGroups {
        diversity: Option<Diversity>,
        closeness: Option<(Reference, T)>,
        min_spread: Option<(f64, Vec<f64>)>,
    },
    /// That they can be divided into buckets or blocks, whose values are close to
    /// those of all.
    OfBuckets(Option<(Reference, T)>),
}

impl SideRule {
    /// What the sides of a table must keep.
    pub fn new(table: &Table, requirements: &Requirements, whole: &WholeTable) -> Self {
        let asks = |index: &ProtectedIndex| {
            let at = index.at();
            let terms = requirements.distinct_terms().iter();
            let mut asked = terms.map(|terms| (terms.l[at], terms.max_share[at]));
            match requirements.protection(*index) {
                Protection::Leakage { .. } => false,
                Protection::Closeness { .. } => true,
                Protection::InGroup {
                    diversity,
                    closeness,
                    min_spread,
                } => {
                    let is_asked = diversity.is_some() || closeness.is_some();
                    is_asked
                        || min_spread.get().is_some()
                        || asked.any(|(l, share)| l > 1 || share < Share::ALL)
                }
                _ => asked.any(|(l, share)| l > 1 || share < Share::ALL),
            }
        };
        // Of many records a subject the engine alone knows what their values ask.
        let is_one = table.schema().multiplicity() == Multiplicity::One;
        let protected = requirements.protected().filter(|_| is_one).filter(asks);
        let attributes: Vec<AttributeRule> = protected
            .filter_map(|index| AttributeRule::new(table, requirements, (index, whole)))
            .collect();
        let terms = requirements.distinct_terms().iter();
        Self {
            terms: terms
                .map(|terms| TermsRule::of(terms, &attributes))
                .collect(),
            least: 1,
            attributes,
        }
    }

    /// The same for the sides of these records together. Terms that ask for more
    /// than all of them give are left aside: the engine excludes who has them,
    /// wherever they stand.
    #[must_use]
    pub fn among(mut self, all: &Contents) -> Self {
        self.forget_unmet(all);
        let occurring = self.terms.iter().zip(&all.of_terms);
        let occurring = occurring.filter(|(_, records)| **records > 0);
        self.least = occurring.map(|(terms, _)| terms.k).min().unwrap_or(1);
        self
    }

    /// The attributes whose values are asked about, in the order of
    /// [`Contents::values`].
    pub fn attributes(&self) -> impl Iterator<Item = AttributeIndex> {
        self.attributes.iter().map(|attribute| attribute.attribute)
    }

    /// No side has fewer records.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// Whether it is enough that a side has [`Self::least`] records.
    pub fn asks_for_size_alone(&self) -> bool {
        self.attributes.is_empty() && self.terms.iter().all(|terms| terms.k <= self.least)
    }

    /// Whether some terms ask for more of values than the job does.
    pub fn asks_of_values(&self) -> bool {
        let asked = self.terms.iter().flat_map(|terms| &terms.values).flatten();
        asked
            .into_iter()
            .any(|&(l, share)| l > 1 || share < Share::ALL)
    }

    /// Whether everyone together cannot give what the terms at a position ask.
    pub fn is_unmet(&self, terms: u32) -> bool {
        self.terms[terms as usize].is_unmet
    }

    /// The contents of nobody.
    pub fn nothing(&self) -> Contents {
        let values = self.attributes.iter();
        Contents {
            records: 0,
            of_terms: vec![0; self.terms.len()],
            values: values.map(|attribute| vec![0; attribute.domain]).collect(),
        }
    }

    /// Adds a record to what stands on a side: the position of its terms, and its
    /// code in each of [`Self::attributes`].
    pub fn count(&self, contents: &mut Contents, terms: u32, codes: impl Iterator<Item = u32>) {
        contents.records += 1;
        contents.of_terms[terms as usize] += 1;
        let protects = &self.terms[terms as usize].values;
        for ((counts, code), protects) in contents.values.iter_mut().zip(codes).zip(protects) {
            if protects.is_some() {
                counts[code as usize] += 1;
            }
        }
    }

    /// Adds so many records with the terms at a position to what stands on a side.
    pub fn add_records(&self, contents: &mut Contents, terms: u32, records: u64) {
        contents.records += records;
        contents.of_terms[terms as usize] += records;
    }

    /// Adds so many records with the terms at a position that have a code in one of
    /// [`Self::attributes`] to what stands on a side, where they protect it.
    pub fn add_values(
        &self,
        contents: &mut Contents,
        (terms, attribute): (u32, usize),
        (code, records): (u32, u64),
    ) {
        if self.terms[terms as usize].values[attribute].is_some() {
            contents.values[attribute][code as usize] += records;
        }
    }

    /// Whether a side keeps what is asked.
    pub fn holds(&self, side: &Contents) -> bool {
        let members = || {
            let terms = self.terms.iter().zip(&side.of_terms);
            terms
                .filter(|(_, records)| **records > 0)
                .map(|(terms, _)| terms)
        };
        members().all(|terms| terms.k <= side.records)
            && self.attributes.iter().enumerate().all(|(at, attribute)| {
                let asked = members().filter_map(|terms| terms.values[at]);
                let strictest = asked.fold((1, Share::ALL), |(l, share), (own, bound)| {
                    (l.max(own), share.min(bound))
                });
                attribute.holds(&side.values[at], strictest)
            })
    }

    /// Takes back what everyone together cannot give.
    fn forget_unmet(&mut self, all: &Contents) {
        let most: Vec<(u64, u64)> = all
            .values
            .iter()
            .map(|counts| {
                (
                    counts.iter().copied().max().unwrap_or(0),
                    counts.iter().sum(),
                )
            })
            .collect();
        for terms in &mut self.terms {
            if terms.k > all.records {
                terms.k = 1;
                terms.is_unmet = true;
            }
            for (asked, &(most, size)) in terms.values.iter_mut().zip(&most) {
                if let Some((l, share)) = asked {
                    if !is_eligible(most, size, *l) {
                        *l = 1;
                        terms.is_unmet = true;
                    }
                    if !share.allows(most, size) {
                        *share = Share::ALL;
                        terms.is_unmet = true;
                    }
                }
            }
        }
    }
}

impl TermsRule {
    fn of(terms: &RecordTerms, attributes: &[AttributeRule]) -> Self {
        let values = attributes.iter().map(|attribute| {
            let at = attribute.index.at();
            let is_protected = terms.flags.contains(attribute.index);
            is_protected.then_some((terms.l[at], terms.max_share[at]))
        });
        Self {
            k: u64::from(terms.k),
            values: values.collect(),
            is_unmet: false,
        }
    }
}

impl AttributeRule {
    fn new(
        table: &Table,
        requirements: &Requirements,
        (index, whole): (ProtectedIndex, &WholeTable),
    ) -> Option<Self> {
        let attribute = requirements.attribute(index);
        let column = table.coded(attribute)?;
        let domain = &column.domain;
        let asked = match requirements.protection(index) {
            Protection::InGroup {
                diversity,
                closeness,
                min_spread,
            } => Asked::OfGroups {
                diversity,
                closeness: closeness.map(|t| {
                    let counts = whole.published(attribute).to_vec();
                    (Reference::of_counts(domain, counts), t)
                }),
                min_spread: min_spread.get().map(|least| {
                    let codes = (0..domain.len()).map(Code::from_usize);
                    (least, codes.map(|code| domain.number(code)).collect())
                }),
            },
            Protection::Closeness { t, .. } => {
                let counts = whole.protected(index).to_vec();
                Asked::OfBuckets(Some((Reference::of_counts(domain, counts), t)))
            }
            _ => Asked::OfBuckets(None),
        };
        Some(Self {
            index,
            attribute,
            domain: domain.len(),
            missing: domain.missing().map(|code| code.0),
            asked,
        })
    }

    /// Whether values that occur so often keep what the job asks, and the
    /// strictest l and share of those who have them.
    fn holds(&self, counts: &[u64], (l, share): (u32, Share)) -> bool {
        let size: u64 = counts.iter().sum();
        if size == 0 {
            return true;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        is_eligible(most, size, l) && share.allows(most, size) && self.keeps(counts, size)
    }

    fn keeps(&self, counts: &[u64], size: u64) -> bool {
        let occurring = || {
            let codes = (0_u32..).zip(counts).filter(|(_, count)| **count > 0);
            codes.map(|(code, &count)| (code, count))
        };
        let is_close = |(reference, t): &(Reference, T)| {
            reference.is_within(*t, &occurring().collect::<Vec<_>>(), size)
        };
        let (diversity, closeness, min_spread) = match &self.asked {
            Asked::OfBuckets(closeness) => return closeness.as_ref().is_none_or(is_close),
            Asked::OfGroups {
                diversity,
                closeness,
                min_spread,
            } => (diversity, closeness, min_spread),
        };
        let is_diverse = |diversity: &Diversity| {
            let known = occurring().filter(|&(code, _)| Some(code) != self.missing);
            let mut known: Vec<u64> = known.map(|(_, count)| count).collect();
            known.is_empty() || is_diverse(*diversity, &mut known)
        };
        let spans = |(least, numbers): &(f64, Vec<f64>)| {
            let ends = known_ends(occurring().map(|(code, _)| code), self.missing);
            ends.is_none_or(|(low, high)| numbers[high as usize] - numbers[low as usize] >= *least)
        };
        diversity.as_ref().is_none_or(is_diverse)
            && min_spread.as_ref().is_none_or(spans)
            && closeness.as_ref().is_none_or(is_close)
    }
}
