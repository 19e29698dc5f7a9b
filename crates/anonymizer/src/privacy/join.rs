//! Joins what subjects ask for with the floors of a policy.

use rustc_hash::FxHashMap;

use crate::microdata::{MaxLeakageTerms, Role, Schema, Terms};

use super::parameter::Share;
use super::policy::Policy;
use super::protected::{ProtectedIndex, ProtectedSet};
use super::requirements::{OwnTerms, RecordTerms};

/// Joins documents with a policy and keeps each distinct outcome once.
pub(super) struct Join<'a> {
    schema: &'a Schema,
    policy: &'a Policy,
    pub lacking: ProtectedSet,
    pub terms: Vec<RecordTerms>,
    position: FxHashMap<RecordTerms, u32>,
}

impl<'a> Join<'a> {
    pub fn new(schema: &'a Schema, policy: &'a Policy) -> Self {
        Self {
            schema,
            policy,
            lacking: ProtectedSet::default(),
            terms: Vec::new(),
            position: FxHashMap::default(),
        }
    }

    pub fn intern(&mut self, terms: RecordTerms) -> u32 {
        let next = self.terms.len() as u32;
        *self.position.entry(terms).or_insert_with_key(|terms| {
            self.terms.push(terms.clone());
            next
        })
    }

    /// The terms of one document; `default` speaks wherever `given` is silent.
    pub fn record_terms(&self, given: &Terms, default: &Terms, personal: bool) -> RecordTerms {
        let sensitive = given.sensitive.as_ref().or(default.sensitive.as_ref());
        let max_leakage = given.max_leakage.as_ref().or(default.max_leakage.as_ref());
        let max_reidentification = given.max_reidentification.or(default.max_reidentification);
        let guard = if given.guard.is_empty() {
            &default.guard
        } else {
            &given.guard
        };
        let width = self.policy.model.protected();
        let mut terms = RecordTerms {
            flags: ProtectedSet::default(),
            k: 1,
            l: vec![1; width],
            max_share: vec![Share::ALL; width],
            max_leakage_parts: vec![0; width],
            guard: Vec::new(),
            own: OwnTerms {
                k: max_reidentification.map_or(1, |bound| bound.reciprocal_ceiling()),
                l: vec![1; width],
                share: vec![Share::ALL; width],
            },
            exclude: given.exclude || default.exclude,
            personal,
        };
        for (at, (attribute, _)) in self.policy.protections().enumerate() {
            let index = ProtectedIndex(at as u8);
            let attribute = self.schema.attribute(attribute);
            let named = sensitive.is_some_and(|names| names.contains(&attribute.name));
            if attribute.role == Role::Sensitive || named {
                terms.flags = terms.flags.with(index);
            }
            if let Some(nodes) = guard.get(&attribute.name) {
                terms.guard.push((index, nodes.clone()));
            }
            let (plain, by_name) = match max_leakage {
                None => (None, None),
                Some(MaxLeakageTerms::All(bound)) => (Some(*bound), None),
                Some(MaxLeakageTerms::PerAttribute(bounds)) => {
                    (None, bounds.get(&attribute.name).copied())
                }
            };
            if let Some(bound) = by_name.or(plain) {
                terms.max_leakage_parts[at] = (bound.get() * 1e9).round().max(1.0) as u32;
                let l = bound.reciprocal_ceiling();
                let one_more = l > 1 && self.lacking.contains(index);
                terms.own.l[at] = l.saturating_add(u32::from(one_more));
            }
            // A plain number speaks for attributes under l-diversity only; a
            // bound below one part per billion allows no value at all.
            if let Some(bound) = by_name {
                terms.own.share[at] = Share::new(bound.get()).unwrap_or(Share::LEAST);
            }
        }
        terms.join_floors(self.policy);
        terms
    }
}
