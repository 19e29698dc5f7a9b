//! What each record asks for, once policy and preferences are joined.
//!
//! Personal terms enter every engine through K and L alone (engines.md): the
//! stricter of policy and preference holds, and a preference never weakens a
//! policy. Records with equal terms share one [`RecordTerms`].
//!
//! A missing value counts for no l. Where an attribute has one, what engines
//! are asked for is *one more* than each l that was ordered, with the missing
//! value counted as a value like any other: of s cells each value, the missing
//! one too, is at most s/(l + 1), so of the s·l/(l + 1) or more that are known
//! none is more than one in l. So everything that deals, cuts or leaves people
//! out goes on counting one way. Values that are published beside groups
//! ([`Protection::InGroup`]) are counted without the missing one instead, as
//! entropy has no such rule; only what subjects ask for is one more there.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::microdata::{
    AttributeIndex, Codes, Preference, RecordIndex, Schema, SubjectIndex, Table, Terms,
};

use super::documents::documents;
use super::history::History;
use super::join::Join;
use super::kept_groups::KeptGroups;
use super::parameter::Share;
use super::policy::Policy;
use super::protected::{ProtectedIndex, ProtectedSet};
use super::protection::Protection;
use super::scale::{Asking, lacking, scale_spreads};
use super::subject_finder::SubjectFinder;

/// What one record asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordTerms {
    /// Attributes whose value is sensitive for this record: the sensitive ones
    /// and the flagged semi-sensitive ones.
    pub flags: ProtectedSet,
    /// Records that must look the same: the stricter of job and subject.
    pub k: u32,
    /// Per protectable attribute: the stricter l of job and subject, or the
    /// subject's alone where values are published in groups; 1 where the
    /// attribute is protected by t-closeness alone.
    pub l: Vec<u32>,
    /// Per protectable attribute: largest share of one value in this record's
    /// bucket; [`Share::ALL`] where the attribute is protected by l-diversity;
    /// the largest leak where that is what the job bounds.
    pub max_share: Vec<Share>,
    /// Per protectable attribute: the leak this subject accepts, in parts per
    /// billion, 0 where none was given. The engine `personalized` reads it.
    pub max_leakage_parts: Vec<u32>,
    /// Guarded hierarchy nodes by protectable attribute.
    pub guard: Vec<(ProtectedIndex, Vec<String>)>,
    /// What the subject alone asks for, before the job's floors are joined.
    pub own: OwnTerms,
    /// Whether the subject asked to be left out.
    pub exclude: bool,
    /// Whether the subject gave terms of their own (not the default).
    pub personal: bool,
}

impl RecordTerms {
    /// The l that bounds how frequent a value may be: the stricter of l and the
    /// largest share.
    pub fn l_of_values(&self, index: ProtectedIndex) -> u32 {
        let of_share = self.max_share[index.at()].reciprocal_ceiling();
        self.l[index.at()].max(of_share)
    }

    /// What one subject asks for under a policy: `given` is their document,
    /// `None` where they gave none and the dataset's default speaks.
    pub fn of_subject(schema: &Schema, policy: &Policy, given: Option<&Terms>) -> Self {
        let none = Terms::default();
        let default = schema.default_preference().unwrap_or(&none);
        Join::new(schema, policy).record_terms(given.unwrap_or(default), default, given.is_some())
    }

    /// Whether a release made under `earlier` may break these terms: an
    /// exclusion, another sensitive attribute, a stricter k, l or share, or
    /// another guarded node. Conservative: such a release may satisfy them by
    /// chance.
    pub fn asks_more_than(&self, earlier: &Self) -> bool {
        let stricter_l = self.l.iter().zip(&earlier.l).any(|(now, then)| now > then);
        let stricter_share = self
            .max_share
            .iter()
            .zip(&earlier.max_share)
            .any(|(now, then)| now < then);
        let guards_more = self.guard.iter().any(|(index, nodes)| {
            let guarded = earlier.guard.iter().find(|(other, _)| other == index);
            nodes
                .iter()
                .any(|node| !guarded.is_some_and(|(_, earlier)| earlier.contains(node)))
        });
        (self.exclude && !earlier.exclude)
            || self.flags.0 & !earlier.flags.0 != 0
            || self.k > earlier.k
            || stricter_l
            || stricter_share
            || guards_more
    }
}

impl RecordTerms {
    /// Whether the subject asks for more than `silent`, the terms of those who
    /// say nothing: an own k, an l or a share, or another guarded node. The
    /// job's floors play no part, so that it is the same in every job.
    pub fn asks_beyond(&self, silent: &Self) -> bool {
        let (own, none) = (&self.own, &silent.own);
        own.k > none.k
            || own.l.iter().zip(&none.l).any(|(own, none)| own > none)
            || own
                .share
                .iter()
                .zip(&none.share)
                .any(|(own, none)| own < none)
            || (!self.guard.is_empty() && self.guard != silent.guard)
    }

    /// These terms with the stricter k, l and shares of both; flags, leaks and
    /// guards stay as they are.
    fn with_bounds_of(&self, other: &Self) -> Self {
        let larger = |one: &[u32], other: &[u32]| {
            let pairs = one.iter().zip(other);
            pairs.map(|(one, other)| *one.max(other)).collect()
        };
        let smaller = |one: &[Share], other: &[Share]| {
            let pairs = one.iter().zip(other);
            pairs.map(|(one, other)| *one.min(other)).collect()
        };
        Self {
            k: self.k.max(other.k),
            l: larger(&self.l, &other.l),
            max_share: smaller(&self.max_share, &other.max_share),
            own: OwnTerms {
                k: self.own.k.max(other.own.k),
                l: larger(&self.own.l, &other.own.l),
                share: smaller(&self.own.share, &other.own.share),
            },
            ..self.clone()
        }
    }
}

/// What one subject alone asks for; an engine tells by it terms of a subject,
/// which may be left out, from floors of the job, which may not be lowered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnTerms {
    /// The subject's k; 1 where they gave none.
    pub k: u32,
    /// Per protectable attribute the subject's l; 1 where they gave none.
    pub l: Vec<u32>,
    /// Per protectable attribute the share that the subject named for it;
    /// [`Share::ALL`] where they named none.
    pub share: Vec<Share>,
}

impl RecordTerms {
    /// Joins the job's floors with what the subject asks for.
    pub(super) fn join_floors(&mut self, policy: &Policy) {
        self.k = policy.k.get().max(self.own.k);
        for (at, (_, protection)) in policy.protections().enumerate() {
            (self.l[at], self.max_share[at]) = match protection {
                Protection::Diversity { l, .. } => (l.get().max(self.own.l[at]), Share::ALL),
                Protection::Closeness { max_posterior, .. } => {
                    (1, max_posterior.min(self.own.share[at]))
                }
                Protection::Leakage { max_leakage } => {
                    let own = match self.max_leakage_parts[at] {
                        0 => Share::ALL,
                        parts => Share::of_parts(parts),
                    };
                    (1, max_leakage.min(own))
                }
                // Under t-closeness alone a plain number does not speak.
                Protection::InGroup {
                    diversity: None,
                    closeness: Some(_),
                    ..
                } => (1, self.own.share[at]),
                Protection::InGroup { .. } => (self.own.l[at], Share::ALL),
            };
        }
    }
}

/// What every record of a table asks for.
#[derive(Clone, Debug)]
pub struct Requirements {
    policy: Policy,
    ordered: Policy,
    lacking: ProtectedSet,
    terms: Vec<RecordTerms>,
    terms_of_record: Codes,
    history: Option<Arc<History>>,
    companions: Option<Vec<Companion>>,
}

/// A record that also asks for what another one asks for, and the position of
/// those terms among [`Requirements::distinct_terms`].
pub type Companion = (RecordIndex, u32);

impl Requirements {
    /// Joins a policy with the preferences of a table's subjects.
    ///
    /// Preferences of subjects that the table does not hold say nothing. Where
    /// `policy.apply_preferences` is false neither preferences nor the
    /// dataset's default are read, except `exclude`, which always holds.
    pub fn new(table: &Table, policy: Policy, preferences: &[Preference]) -> Self {
        let schema = table.schema();
        let none = Terms::default();
        let default = if policy.apply_preferences {
            schema.default_preference().unwrap_or(&none)
        } else {
            &none
        };
        let mut subjects = SubjectFinder::new(table.subject_keys());
        let keys = preferences.iter().map(|preference| &*preference.subject);
        let (found, (documents, document_of)) = rayon::join(
            || -> Vec<Option<SubjectIndex>> { keys.map(|key| subjects.find(key)).collect() },
            || documents(preferences),
        );
        let mut excluded = vec![default.exclude; table.subjects()];
        for (subject, &document) in found.iter().zip(&document_of) {
            let Some(subject) = subject else { continue };
            excluded[subject.at()] = default.exclude || documents[document as usize].exclude;
        }
        let asking = Asking::new(table, excluded);
        let lacking = lacking(&asking, &policy);
        let mut ordered = policy;
        scale_spreads(&asking, &mut ordered);
        let policy = ordered.one_more(lacking);
        let mut join = Join::new(schema, &policy);
        join.lacking = lacking;
        let fallback = join.intern(join.record_terms(default, default, false));
        let mut terms_of_subject = vec![fallback; table.subjects()];
        let mut terms_of_document: Vec<Option<u32>> = vec![None; documents.len()];
        for (subject, document) in found.into_iter().zip(document_of) {
            let Some(subject) = subject else { continue };
            let terms = &mut terms_of_document[document as usize];
            let terms = *terms.get_or_insert_with(|| {
                let given = &documents[document as usize];
                let terms = if policy.apply_preferences {
                    join.record_terms(given, default, true)
                } else {
                    let given = Terms {
                        exclude: given.exclude,
                        ..Terms::default()
                    };
                    join.record_terms(&given, default, false)
                };
                join.intern(terms)
            });
            terms_of_subject[subject.at()] = terms;
        }
        let terms = join.terms;
        let records = (0..table.records()).map(RecordIndex::from_usize);
        let of_records = records.map(|record| terms_of_subject[table.subject_of(record).at()]);
        Self {
            policy,
            ordered,
            lacking,
            terms_of_record: Codes::below(terms.len(), of_records),
            terms,
            history: None,
            companions: None,
        }
    }

    /// Requirements of records that ask for the terms at these positions.
    pub(super) fn of_terms(
        (ordered, lacking): (Policy, ProtectedSet),
        terms: Vec<RecordTerms>,
        (terms_of_record, companions): (Codes, Option<Vec<Companion>>),
    ) -> Self {
        Self {
            policy: ordered.one_more(lacking),
            ordered,
            lacking,
            terms,
            terms_of_record,
            history: None,
            companions,
        }
    }

    /// The same subjects' terms under another policy over the same attributes,
    /// to find out what would hold. Terms keep their positions.
    #[must_use]
    pub fn under(&self, policy: Policy) -> Self {
        debug_assert_eq!(policy.model.protected(), self.policy.model.protected());
        let mut terms = self.terms.clone();
        for entry in &mut terms {
            entry.join_floors(&policy);
        }
        Self {
            ordered: policy.one_less(self.lacking),
            policy,
            lacking: self.lacking,
            terms,
            terms_of_record: self.terms_of_record.clone(),
            history: self.history.clone(),
            companions: self.companions.clone(),
        }
    }

    /// The same, where each of these records also has the bounds of other terms.
    #[must_use]
    pub fn lent(&self, companions: &[Companion]) -> Self {
        if companions.is_empty() {
            return self.clone();
        }
        let mut terms = self.terms.clone();
        let mut joined: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut of_record: Vec<u32> = self.terms_of_record.iter().collect();
        for &(record, of) in companions {
            let both = [self.terms_of_record.at(record.at()), of];
            let [own, other] = both.map(|position| &self.terms[position as usize]);
            of_record[record.at()] = *joined.entry((both[0], both[1])).or_insert_with(|| {
                terms.push(own.with_bounds_of(other));
                terms.len() as u32 - 1
            });
        }
        Self {
            policy: self.policy.clone(),
            ordered: self.ordered.clone(),
            lacking: self.lacking,
            terms_of_record: Codes::below(terms.len(), of_record.into_iter()),
            terms,
            history: self.history.clone(),
            companions: None,
        }
    }

    /// The same, where these are the companions; nobody has to look for any.
    #[must_use]
    pub fn with_companions(mut self, companions: Vec<Companion>) -> Self {
        self.companions = Some(companions);
        self
    }

    /// Who is treated as if they asked for what somebody else does, where that is
    /// decided.
    pub fn companions(&self) -> Option<&[Companion]> {
        self.companions.as_deref()
    }

    /// What the records at these positions of the table ask for, under the same
    /// policy: the requirements of [`Table::part`].
    ///
    /// # Panics
    /// Where a position is beyond the end.
    #[must_use]
    pub fn part(&self, records: &[u32]) -> Self {
        let mut occurs = vec![false; self.terms.len()];
        let of_record = self.terms_of_record.some(records);
        of_record.iter().for_each(|at| occurs[at as usize] = true);
        let companions = self.companions.as_ref().map(|companions| {
            let own = companions.iter().filter_map(|&(record, of)| {
                let at = records.binary_search(&record.0).ok()?;
                occurs[of as usize] = true;
                Some((RecordIndex::from_usize(at), of))
            });
            own.collect::<Vec<Companion>>()
        });
        let mut kept = 0;
        let position: Vec<u32> = occurs
            .iter()
            .map(|&occurs| {
                kept += u32::from(occurs);
                kept.saturating_sub(1)
            })
            .collect();
        let terms = self.terms.iter().zip(&occurs);
        let terms: Vec<RecordTerms> = terms
            .filter(|(_, occurs)| **occurs)
            .map(|(terms, _)| terms.clone())
            .collect();
        let of_record = of_record.iter().map(|at| position[at as usize]);
        Self {
            policy: self.policy.clone(),
            ordered: self.ordered.clone(),
            lacking: self.lacking,
            terms_of_record: Codes::below(terms.len(), of_record),
            terms,
            history: self.history.clone(),
            companions: companions.map(|companions| {
                let own = companions.into_iter();
                own.map(|(record, of)| (record, position[of as usize]))
                    .collect()
            }),
        }
    }

    /// The same, where what public releases show of the subjects is kept.
    #[must_use]
    pub fn keeping(mut self, history: Option<Arc<History>>) -> Self {
        self.history = history;
        self
    }

    /// What public releases show of the subjects; none where the job does not
    /// keep it.
    pub fn history(&self) -> Option<&History> {
        self.history.as_deref()
    }

    /// The groups that public releases show of the subjects; none where the job
    /// does not keep groups.
    pub fn kept_groups(&self) -> Option<&KeptGroups> {
        self.history()?.groups.as_ref()
    }

    /// The same, where the release shows these groups again, and does not join them
    /// to larger ones.
    pub fn groups_shown_again(&self) -> Option<&KeptGroups> {
        self.kept_groups().filter(|groups| !groups.joins)
    }

    /// The same under another policy as it is ordered.
    #[must_use]
    pub fn under_ordered(&self, ordered: &Policy) -> Self {
        self.under(ordered.one_more(self.lacking))
    }

    /// The policy as it was ordered and is claimed.
    pub fn ordered(&self) -> &Policy {
        &self.ordered
    }

    /// The attributes of which some record lacks the value; records of excluded
    /// subjects say nothing.
    pub fn lacking(&self) -> ProtectedSet {
        self.lacking
    }

    /// The l of known values alone that follows from an l with which the
    /// missing value is counted.
    pub fn l_of_known(&self, index: ProtectedIndex, l: u32) -> u32 {
        if self.lacking.contains(index) {
            l.saturating_sub(1).max(1)
        } else {
            l
        }
    }

    /// The policy that engines keep: the ordered one, with an l more where
    /// values are missing.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What a record asks for.
    #[inline]
    pub fn of(&self, record: RecordIndex) -> &RecordTerms {
        &self.terms[self.terms_of_record.at(record.at()) as usize]
    }

    /// The distinct terms; [`Requirements::terms_of_record`] points into them.
    pub fn distinct_terms(&self) -> &[RecordTerms] {
        &self.terms
    }

    /// Position in [`Requirements::distinct_terms`] of each record's terms.
    pub fn terms_of_record(&self) -> &Codes {
        &self.terms_of_record
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.terms_of_record.len()
    }

    /// Attribute of each protectable position.
    pub fn attribute(&self, index: ProtectedIndex) -> AttributeIndex {
        self.policy.model.protection(index).0
    }

    /// Protection of each protectable position.
    pub fn protection(&self, index: ProtectedIndex) -> Protection {
        self.policy.model.protection(index).1
    }

    /// All protectable positions, in schema order.
    pub fn protected(&self) -> impl Iterator<Item = ProtectedIndex> + use<> {
        (0..self.policy.model.protected() as u8).map(ProtectedIndex)
    }
}
