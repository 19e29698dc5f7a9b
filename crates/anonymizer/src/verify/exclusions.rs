//! `exclusions_asked_for`: anyone who is not published asked to be left out, or
//! asked for something that could not be given. Nobody else may be left out:
//! absence would tell of their values. Where a rule about everyone together
//! decides who leaves, nobody is left out whose terms could be met
//! (`maximal`).
//!
//! Two kinds of policy leave out others too, and their manifests say so
//! (`release::statement`): where leakage is bounded for everyone, anyone who has
//! a value that is more frequent than the bound; and where columns are
//! permuted in buckets, anyone who shares a combination with somebody who left
//! for their own terms, so that it shows one value less.
//!
//! Where a series keeps sets of values or groups, subjects who are new may have
//! to wait for the next release, and others of a group may leave with those who
//! have to; both count for nothing here (`blocks::kept`, `kept_groups`).
//!
//! All who did not ask for it are together no more than the job's
//! `max_excluded` allows. Figures are for stewards: exact numbers.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::microdata::{AttributeIndex, Code, RecordIndex, Role};
use crate::privacy::{
    History, InBucket, KeptClass, KeptMember, Model, ProtectedIndex, RecordTerms, Requirements,
    Share,
};

use super::evidence::Evidence;
use super::maximal::without_need;
use super::sliced;
use super::verdict::{Check, Failures};

/// Checks everyone who has no row.
pub(super) fn exclusions_asked_for(evidence: &Evidence) -> Check {
    let mut absent = Absent::of(evidence);
    let others = std::mem::take(&mut absent.others);
    let (table, requirements) = (evidence.table, evidence.requirements);
    let mut others = others;
    let mut needless = 0;
    match continued(requirements) {
        None => {
            needless = without_need(table, requirements, &absent.is_published, &absent.askers);
        }
        // Who is new in a series that keeps sets or groups may have to wait for
        // others, who asks for a larger set than the kept one leaves, and others
        // of a group leave with those who have to.
        Some(history) => {
            let parted = Parted::of(evidence, history);
            let counts = |&record: &RecordIndex| {
                !is_new(requirements, history, record) && !parted.has(record)
            };
            others.retain(counts);
            absent.askers.retain(counts);
        }
    }
    let askers = absent.askers.len();
    let unexplained = unexplained(evidence, absent.askers, others.clone());
    let mut failures = Failures::none();
    if unexplained > 0 {
        failures.add("a subject is left out who asked for nothing beyond the job's floors");
        failures.count = unexplained as u64;
    }
    if needless > 0 {
        failures.add("a subject is left out whose terms could be met");
        failures.count += needless as u64 - 1;
    }
    let left_out = (askers + others.len()) as u64;
    let present = evidence.table.subjects() as u64 - absent.opted_out;
    if !is_allowed(evidence, left_out, present) {
        failures.add("more subjects are left out than the job allows");
    }
    if left_out == present && present > 0 {
        failures.add("nobody is published");
    }
    Check::structure("exclusions_asked_for", &failures)
        .with_figure("opted_out", absent.opted_out as f64)
        .with_figure("asked_for_more", askers as f64)
        .with_figure("others", others.len() as f64)
        .with_figure("could_be_published", needless as f64)
}

/// What a release goes on from that keeps sets of values; none for a first one.
fn continued(requirements: &Requirements) -> Option<&History> {
    let history = requirements.history();
    history.filter(|history| !history.is_empty())
}

/// Numbers of subjects without a row who did not ask for it: of whom no public
/// release shows a set of some published attribute, or the group; and all others.
/// None of a first release.
pub(super) fn left_out(evidence: &Evidence) -> (u64, u64) {
    let requirements = evidence.requirements;
    let Some(history) = continued(requirements) else {
        return (0, 0);
    };
    let absent = Absent::of(evidence);
    let all = absent.askers.iter().chain(&absent.others);
    let (new, old): (Vec<&RecordIndex>, Vec<&RecordIndex>) =
        all.partition(|&&record| is_new(requirements, history, record));
    (new.len() as u64, old.len() as u64)
}

/// The kept groups that somebody has to leave, or one that looks like them.
struct Parted<'a> {
    history: &'a History,
    is_parted: Vec<bool>,
}

impl<'a> Parted<'a> {
    fn of(evidence: &Evidence, history: &'a History) -> Self {
        let requirements = evidence.requirements;
        let groups = history.groups.iter();
        let is_parted = groups.flat_map(|groups| {
            let asks = |record| asks_for_more(evidence, requirements.of(RecordIndex(record)));
            let leaves = |member: &KeptMember| {
                !groups.can_stay(member, requirements) || member.record.is_some_and(asks)
            };
            let is_parted =
                |class: &&KeptClass| !class.is_whole || class.members.iter().any(leaves);
            // What holds of all who look alike need not hold without some of them.
            let parted = groups.classes.iter().filter(is_parted);
            let looks: FxHashSet<&[u32]> = parted.map(|class| class.cells.as_slice()).collect();
            let all = groups.classes.iter();
            all.map(|class| looks.contains(class.cells.as_slice()))
                .collect::<Vec<_>>()
        });
        Self {
            history,
            is_parted: is_parted.collect(),
        }
    }

    fn has(&self, record: RecordIndex) -> bool {
        let groups = self.history.groups.as_ref();
        let class = groups.and_then(|groups| groups.class(record.0));
        class.is_some_and(|class| self.is_parted[class])
    }
}

fn is_new(requirements: &Requirements, history: &History, record: RecordIndex) -> bool {
    if history.groups.is_some() {
        return history.is_new(record.0, std::iter::empty());
    }
    let Model::Blocks { sensitive, .. } = requirements.policy().model else {
        return false;
    };
    let published = requirements
        .protected()
        .filter(|&index| sensitive.contains(index));
    history.is_new(record.0, published)
}

/// Subjects without a row, each by one record.
struct Absent {
    /// Who has a row, by subject.
    is_published: Vec<bool>,
    /// Number of those who asked for it.
    opted_out: u64,
    /// Those whose own terms explain it, or a value beyond the job's bound.
    askers: Vec<RecordIndex>,
    /// All others.
    others: Vec<RecordIndex>,
}

impl Absent {
    fn of(evidence: &Evidence) -> Self {
        let (table, requirements) = (evidence.table, evidence.requirements);
        let mut is_published = vec![false; table.subjects()];
        let lineages = evidence.lineage.tables.iter();
        for subject in lineages.flat_map(|lineage| &lineage.subjects) {
            if let Some(published) = is_published.get_mut(subject.at()) {
                *published = true;
            }
        }
        let mut is_settled = is_published.clone();
        let terms = requirements.distinct_terms().iter();
        let asks: Vec<bool> = terms.map(|terms| asks_for_more(evidence, terms)).collect();
        let frequent = Frequent::of(evidence);
        let mut absent = Self {
            is_published,
            opted_out: 0,
            askers: Vec::new(),
            others: Vec::new(),
        };
        for record in 0..table.records().min(requirements.records()) {
            let record = RecordIndex::from_usize(record);
            let settled = &mut is_settled[table.subject_of(record).at()];
            if std::mem::replace(settled, true) {
                continue;
            }
            let asks = asks[requirements.terms_of_record().at(record.at()) as usize];
            match requirements.of(record).exclude {
                true => absent.opted_out += 1,
                false if asks || frequent.has(evidence, record) => absent.askers.push(record),
                false => absent.others.push(record),
            }
        }
        absent
    }
}

/// Whether a subject asks for something that the job does not give everyone.
fn asks_for_more(evidence: &Evidence, terms: &RecordTerms) -> bool {
    let (table, requirements) = (evidence.table, evidence.requirements);
    let policy = requirements.policy();
    let k_floor = match policy.model {
        Model::Fingerprints { k_group, .. } => policy.k.get().min(k_group.get()),
        _ => policy.k.get(),
    };
    let asks_of = |index: ProtectedIndex| {
        let (own, at) = (&terms.own, index.at());
        let is_stricter = match &policy.model {
            Model::Bucketized { protections } | Model::Sliced { protections, .. } => {
                match protections[at].1 {
                    InBucket::Diversity { l, .. } => own.l[at] > l.get(),
                    InBucket::Closeness { max_posterior, .. } => own.share[at] < max_posterior,
                }
            }
            Model::Blocks { protections, .. } => own.l[at] > protections[at].1.l.get(),
            // The most frequent fingerprint stays when others leave, and may
            // then be too frequent even for an l below the job's.
            Model::Fingerprints { .. } | Model::Itemsets { .. } | Model::Generalized { .. } => {
                own.l[at] > 1
            }
            Model::Personalized { max_leakage, .. } => {
                terms.max_share[at] < *max_leakage
                    || terms.guard.iter().any(|&(guarded, _)| guarded == index)
            }
        };
        // To say whether a value is sensitive is to ask for something, too.
        let role = table.schema().attribute(requirements.attribute(index)).role;
        is_stricter || role == Role::SemiSensitive && terms.flags.contains(index)
    };
    terms.own.k > k_floor || requirements.protected().any(asks_of)
}

/// Values that no node hides well enough for the job's bound of leakage.
#[derive(Default)]
struct Frequent {
    /// The attribute whose leakage is bounded, and whether each value is.
    is_beyond: Option<(AttributeIndex, Vec<bool>)>,
}

impl Frequent {
    fn of(evidence: &Evidence) -> Self {
        let (table, requirements) = (evidence.table, evidence.requirements);
        let Model::Personalized {
            sensitive,
            max_leakage,
            ..
        } = requirements.policy().model
        else {
            return Self::default();
        };
        let Some(column) = table.coded(sensitive) else {
            return Self::default();
        };
        let records = table.records() as u64;
        let counts = column.histogram().into_iter();
        let is_beyond = counts.map(|count| !max_leakage.allows(count.into(), records));
        Self {
            is_beyond: Some((sensitive, is_beyond.collect())),
        }
    }

    fn has(&self, evidence: &Evidence, record: RecordIndex) -> bool {
        let mut all = self.is_beyond.iter();
        all.any(|(attribute, is_beyond)| {
            let code = evidence.table.code(*attribute, record);
            code.is_some_and(|code| is_beyond.get(code.at()).copied().unwrap_or(false))
        })
    }
}

/// Number of those who have no reason to leave with the askers: who shares no
/// combination with somebody who left, directly or through others.
fn unexplained(
    evidence: &Evidence,
    mut leaving: Vec<RecordIndex>,
    mut others: Vec<RecordIndex>,
) -> usize {
    let shared = match &evidence.requirements.policy().model {
        Model::Sliced { protections, .. } => sliced::shared_combinations(evidence, protections),
        _ => Vec::new(),
    };
    let combination = |attributes: &[AttributeIndex], record| -> Vec<Option<Code>> {
        let codes = attributes.iter();
        codes.map(|&at| evidence.table.code(at, record)).collect()
    };
    let mut left: Vec<FxHashSet<Vec<Option<Code>>>> = vec![FxHashSet::default(); shared.len()];
    while !leaving.is_empty() && !others.is_empty() {
        for record in leaving.drain(..) {
            for (attributes, left) in shared.iter().zip(&mut left) {
                left.insert(combination(attributes, record));
            }
        }
        others.retain(|&record| {
            let mut all = shared.iter().zip(&left);
            let follows =
                all.any(|(attributes, left)| left.contains(&combination(attributes, record)));
            if follows {
                leaving.push(record);
            }
            !follows
        });
    }
    others.len()
}

/// Whether the job allows so many of those to be left out who did not ask for
/// it; in parts per billion, as parameters are compared.
fn is_allowed(evidence: &Evidence, left_out: u64, of: u64) -> bool {
    let share = evidence.ordered.parameters.get("max_excluded");
    share.and_then(Value::as_f64).is_none_or(|share| {
        let parts = (share * Share::WHOLE_PARTS as f64).round() as u128;
        u128::from(left_out) * u128::from(Share::WHOLE_PARTS) <= parts * u128::from(of)
    })
}
