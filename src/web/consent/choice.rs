//! A choice on the page, and the terms that say the same.
//!
//! The page asks two things: what is hidden, and among how many people. Terms ask
//! for probabilities: one of N people is `max_reidentification: 1/N`, and what is
//! hidden among others may be guessed with `max_leakage: 1/N` at most; where there
//! are fewer values than N, nobody can be kept from guessing one of them. Terms
//! that were set elsewhere are shown by the page only where a choice on it would
//! say exactly the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{MaxLeakageTerms, Probability, Terms};

use super::offer::{Attribute, Offer, Published};

/// How far two probabilities may be apart and still be the same.
const SLACK: f64 = 1e-9;

/// A whole choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Not at all.
    Out,
    /// With the data in.
    In {
        /// Names of what is hidden.
        hidden: BTreeSet<String>,
        /// Among how many people.
        people: u32,
    },
}

/// Whether an attribute's values are published among those of others.
fn is_hidden(attribute: &Attribute, hidden: &BTreeSet<String>) -> bool {
    let is_chosen = attribute.may_hide && hidden.contains(&attribute.name);
    is_chosen || attribute.published == Published::Hidden
}

/// How well what is hidden may be guessed, by name.
fn leakage(hidden: &BTreeSet<String>, people: u32, offer: &Offer) -> BTreeMap<String, f64> {
    let all = offer.attributes.iter();
    let hidden = all.filter(|attribute| is_hidden(attribute, hidden));
    let bounds = hidden.filter_map(|attribute| {
        let values = attribute.values.unwrap_or(people);
        // One value tells nothing, and cannot be hidden.
        (attribute.values.is_none() || values >= 2)
            .then(|| (attribute.name.clone(), 1.0 / f64::from(people.min(values))))
    });
    bounds.collect()
}

impl Choice {
    /// The terms that say it.
    pub fn terms(&self, offer: &Offer) -> Value {
        let Self::In { hidden, people } = self else {
            return json!({"exclude": true});
        };
        let chosen = offer.to_choose().map(|attribute| &attribute.name);
        let sensitive: Vec<_> = chosen.filter(|name| hidden.contains(*name)).collect();
        let mut terms = json!({
            "exclude": false,
            "sensitive": sensitive,
            "max_reidentification": 1.0 / f64::from(*people),
        });
        let leakage = leakage(hidden, *people, offer);
        if !leakage.is_empty() {
            terms["max_leakage"] = json!(leakage);
        }
        terms
    }

    /// The choice that says the same as terms, where there is one. What the terms
    /// leave open is as for people who say nothing.
    pub fn of(terms: &Terms, offer: &Offer) -> Option<Self> {
        let default = &offer.without_terms;
        if terms.exclude {
            return Some(Self::Out);
        }
        if !(terms.guard.is_empty() && default.guard.is_empty()) {
            return None;
        }
        let bound = terms
            .max_reidentification
            .or(default.max_reidentification)?;
        let is_bound = |people: &&u32| is_same(bound, 1.0 / f64::from(**people));
        let people = *offer.steps.iter().find(is_bound)?;
        let named = terms.sensitive.as_ref().or(default.sensitive.as_ref());
        let may_hide = |name: &&String| offer.to_choose().any(|one| one.name == **name);
        let hidden = named.into_iter().flatten().filter(may_hide);
        let hidden: BTreeSet<String> = hidden.cloned().collect();
        let wanted = leakage(&hidden, people, offer);
        let given = match &terms.max_leakage {
            None if wanted.is_empty() => None,
            None => default.max_leakage.as_ref(),
            given => given.as_ref(),
        };
        let is_kept = match given {
            None => wanted.is_empty(),
            Some(MaxLeakageTerms::All(bound)) => {
                wanted.values().all(|wanted| is_same(*bound, *wanted))
            }
            Some(MaxLeakageTerms::PerAttribute(bounds)) => {
                bounds.len() == wanted.len()
                    && bounds.iter().all(|(name, bound)| {
                        let wanted = wanted.get(name);
                        wanted.is_some_and(|wanted| is_same(*bound, *wanted))
                    })
            }
        };
        is_kept.then_some(Self::In { hidden, people })
    }
}

fn is_same(bound: Probability, wanted: f64) -> bool {
    (bound.get() - wanted).abs() < SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(without_terms: Value) -> Offer {
        let attribute = |name: &str, published: &str, may_hide: bool, values: Value| {
            json!({"name": name, "title": {}, "description": {}, "published": published,
                "may_hide": may_hide, "values": values})
        };
        let offer = json!({
            "dataset": {"name": "wards", "title": {}, "purpose": {}, "contact": {}},
            "expires_at": "2026-12-12T00:00:00Z",
            "terms": null,
            "without_terms": without_terms,
            "attributes": [
                attribute("patient", "never", false, json!(null)),
                attribute("sex", "coarsened", true, json!(2)),
                attribute("age", "coarsened", true, json!(null)),
                attribute("house", "coarsened", true, json!(1)),
                attribute("ward", "coarsened", false, json!(14)),
                attribute("diagnosis", "hidden", false, json!(14)),
                attribute("empty", "hidden", false, json!(0)),
                attribute("cost", "hidden", false, json!(null)),
            ],
            "steps": [2, 5, 10, 20],
        });
        serde_json::from_value(offer).expect("an offer")
    }

    fn with(hidden: &[&str], people: u32) -> Choice {
        let hidden = hidden.iter().map(|name| (*name).to_owned()).collect();
        Choice::In { hidden, people }
    }

    #[test]
    fn each_choice_is_these_terms() {
        let offer = offer(json!({}));
        assert_eq!(Choice::Out.terms(&offer), json!({"exclude": true}));
        assert_eq!(
            with(&[], 2).terms(&offer),
            json!({"exclude": false, "sensitive": [], "max_reidentification": 0.5,
                "max_leakage": {"diagnosis": 0.5, "cost": 0.5}})
        );
        assert_eq!(
            with(&["age", "sex"], 5).terms(&offer),
            json!({"exclude": false, "sensitive": ["sex", "age"], "max_reidentification": 0.2,
                "max_leakage": {"sex": 0.5, "age": 0.2, "diagnosis": 0.2, "cost": 0.2}})
        );
        // 14 values are fewer than 20 people; one value has no bound.
        assert_eq!(
            with(&["house"], 20).terms(&offer),
            json!({"exclude": false, "sensitive": ["house"], "max_reidentification": 0.05,
                "max_leakage": {"diagnosis": 1.0 / 14.0, "cost": 0.05}})
        );
        // What nobody may hide is hidden for nobody.
        assert_eq!(with(&["ward"], 5).terms(&offer), with(&[], 5).terms(&offer));
    }

    #[test]
    fn without_anything_hidden_no_leak_is_bounded() {
        let mut offer = offer(json!({}));
        offer
            .attributes
            .retain(|one| one.published != Published::Hidden);
        assert_eq!(
            with(&[], 10).terms(&offer),
            json!({"exclude": false, "sensitive": [], "max_reidentification": 0.1})
        );
    }

    fn read(terms: Value) -> Terms {
        serde_json::from_value(terms).expect("terms")
    }

    #[test]
    fn every_choice_is_read_again_from_its_terms() {
        let offer = offer(json!({"sensitive": ["age"], "max_leakage": 0.3}));
        for people in [2, 5, 10, 20] {
            for hidden in [
                &[][..],
                &["age"],
                &["sex", "house"],
                &["sex", "age", "house"],
            ] {
                let choice = with(hidden, people);
                let terms = read(choice.terms(&offer));
                assert_eq!(
                    Choice::of(&terms, &offer),
                    Some(choice),
                    "{hidden:?} {people}"
                );
            }
        }
        let out = Choice::of(
            &read(json!({"exclude": true, "sensitive": ["age"]})),
            &offer,
        );
        assert_eq!(out, Some(Choice::Out));
    }

    #[test]
    fn what_the_page_cannot_say_is_no_choice_of_it() {
        let offer = offer(json!({}));
        let leakage = json!({"diagnosis": 0.2, "cost": 0.2});
        let shown = json!({"max_reidentification": 0.2, "max_leakage": leakage});
        assert_eq!(Choice::of(&read(shown.clone()), &offer), Some(with(&[], 5)));
        let all = json!({"max_reidentification": 0.2, "max_leakage": 0.2});
        assert_eq!(Choice::of(&read(all), &offer), Some(with(&[], 5)));
        let changed = |name: &str, value: Value| {
            let mut terms = shown.clone();
            terms[name] = value;
            terms
        };
        for terms in [
            json!({}),
            changed("max_reidentification", json!(0.3)),
            changed("max_leakage", json!(0.3)),
            changed("max_leakage", json!({"diagnosis": 0.2})),
            changed("max_leakage", json!({"diagnosis": 0.2, "cost": 0.1})),
            changed(
                "max_leakage",
                json!({"diagnosis": 0.2, "cost": 0.2, "sex": 0.5}),
            ),
            changed("sensitive", json!(["age"])),
            changed("guard", json!({"diagnosis": ["cancer"]})),
        ] {
            assert_eq!(Choice::of(&read(terms.clone()), &offer), None, "{terms}");
        }
    }

    #[test]
    fn what_terms_leave_open_is_as_for_people_who_say_nothing() {
        let leakage = json!({"sex": 0.5, "diagnosis": 0.2, "cost": 0.2});
        let default = json!({"sensitive": ["sex"], "max_reidentification": 0.2,
            "max_leakage": leakage});
        let offer = offer(default);
        let five = Some(with(&["sex"], 5));
        assert_eq!(Choice::of(&read(json!({})), &offer), five);
        assert_eq!(
            Choice::of(&read(json!({"max_leakage": leakage})), &offer),
            five
        );
    }
}
