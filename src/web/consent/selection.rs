//! What is selected on the page of choices, before it is a choice.
//!
//! Whether the data may be in is for the person to say: neither is selected before
//! they do. The finer controls begin with what protects most: everything hidden,
//! among as many people as there is a step for.

use std::collections::{BTreeMap, BTreeSet};

use super::choice::Choice;
use super::offer::{Attribute, Offer};

/// The field that says whether the data may be in.
pub const TAKE: &str = "take";
/// It with the data in.
pub const IN: &str = "in";
/// It without.
pub const OUT: &str = "out";
/// The field that says among how many people.
pub const PEOPLE: &str = "people";
/// An answer of a field of two.
pub const YES: &str = "yes";
/// The other.
pub const NO: &str = "no";

/// The field of an attribute.
pub fn field(attribute: &Attribute) -> String {
    format!("hide.{}", attribute.name)
}

/// What is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Whether the data may be in; `None`: neither is selected.
    pub is_in: Option<bool>,
    /// Names of what is hidden.
    pub hidden: BTreeSet<String>,
    /// Among how many people; `None`: no step is selected.
    pub people: Option<u32>,
}

impl Selection {
    /// As the page begins: with what the person said before, where it can show that.
    pub fn of(offer: &Offer) -> Self {
        let protecting = Self {
            is_in: None,
            hidden: offer.to_choose().map(|one| one.name.clone()).collect(),
            people: offer.steps.iter().copied().max(),
        };
        let said = offer.terms.as_ref();
        match said.and_then(|terms| Choice::of(terms, offer)) {
            None => protecting,
            Some(Choice::Out) => Self {
                is_in: Some(false),
                ..protecting
            },
            Some(Choice::In { hidden, people }) => Self {
                is_in: Some(true),
                hidden,
                people: Some(people),
            },
        }
    }

    /// As the fields of a form say; `None` where it had no such fields. What says
    /// nothing of an attribute hides it.
    pub fn posted(fields: &BTreeMap<String, String>, offer: &Offer) -> Option<Self> {
        let people = fields.get(PEOPLE)?.parse().ok();
        let is_shown = |one: &Attribute| fields.get(&field(one)).is_some_and(|said| said == NO);
        let hidden = offer.to_choose().filter(|one| !is_shown(one));
        Some(Self {
            is_in: match fields.get(TAKE).map(String::as_str) {
                Some(IN) => Some(true),
                Some(OUT) => Some(false),
                _ => None,
            },
            hidden: hidden.map(|one| one.name.clone()).collect(),
            people: people.filter(|people| offer.steps.contains(people)),
        })
    }

    /// The choice, where all that it needs is selected.
    pub fn choice(&self) -> Option<Choice> {
        if self.is_in? {
            Some(Choice::In {
                hidden: self.hidden.clone(),
                people: self.people?,
            })
        } else {
            Some(Choice::Out)
        }
    }

    /// The fields that select the same.
    pub fn fields(&self, offer: &Offer) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        if let Some(is_in) = self.is_in {
            let take = if is_in { IN } else { OUT };
            fields.push((TAKE.into(), take.into()));
        }
        for one in offer.to_choose() {
            let is_hidden = self.hidden.contains(&one.name);
            let said = if is_hidden { YES } else { NO };
            fields.push((field(one), said.into()));
        }
        let people = self
            .people
            .map_or_else(String::new, |people| people.to_string());
        fields.push((PEOPLE.into(), people));
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn offer(terms: Value) -> Offer {
        let attribute = |name: &str, may_hide: bool| {
            json!({"name": name, "title": {}, "description": {}, "published": "coarsened",
                "may_hide": may_hide, "values": null})
        };
        let offer = json!({
            "dataset": {"name": "wards", "title": {}, "purpose": {}, "contact": {}},
            "expires_at": "2026-12-12T00:00:00Z",
            "terms": terms,
            "without_terms": {},
            "attributes": [attribute("age", true), attribute("sex", true), attribute("ward", false)],
            "steps": [2, 5],
        });
        serde_json::from_value(offer).expect("an offer")
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn nobody_is_in_before_they_say_so_and_the_finer_controls_protect() {
        let selection = Selection::of(&offer(Value::Null));
        assert_eq!(selection.is_in, None);
        assert_eq!(selection.hidden, names(&["age", "sex"]));
        assert_eq!(selection.people, Some(5));
        assert_eq!(selection.choice(), None);
        let selection = Selection::of(&offer(json!({"exclude": true})));
        assert_eq!(selection.choice(), Some(Choice::Out));
        let said = json!({"sensitive": ["sex"], "max_reidentification": 0.5,
            "max_leakage": {"sex": 0.5}});
        let selection = Selection::of(&offer(said));
        assert_eq!((selection.is_in, selection.people), (Some(true), Some(2)));
        assert_eq!(selection.hidden, names(&["sex"]));
    }

    #[test]
    fn a_selection_is_read_again_from_its_fields() {
        let offer = offer(Value::Null);
        for is_in in [None, Some(true), Some(false)] {
            for (hidden, people) in [
                (&[][..], Some(2)),
                (&["age"], Some(5)),
                (&["age", "sex"], None),
            ] {
                let selection = Selection {
                    is_in,
                    hidden: names(hidden),
                    people,
                };
                let fields = selection.fields(&offer).into_iter().collect();
                assert_eq!(Selection::posted(&fields, &offer), Some(selection));
            }
        }
    }

    #[test]
    fn fields_of_a_form_that_is_none_of_ours_select_what_protects_or_nothing() {
        let offer = offer(Value::Null);
        let posted = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            Selection::posted(&pairs.collect(), &offer)
        };
        assert_eq!(posted(&[("take", "in")]), None);
        let selection = posted(&[("take", "both"), ("people", "3"), ("hide.age", "maybe")]);
        let selection = selection.expect("a selection");
        assert_eq!((selection.is_in, selection.people), (None, None));
        assert_eq!(selection.hidden, names(&["age", "sex"]));
        let none = posted(&[("take", "in"), ("people", "3")]).expect("a selection");
        assert_eq!(none.choice(), None, "no step of ours");
    }
}
