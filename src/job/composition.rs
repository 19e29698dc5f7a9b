//! Whether a draft is about people of whom other releases are public, what
//! they tell together, and whether they keep together what each claims.
//!
//! Counts are rounded up to tens: they become public with both releases, and
//! an exact number of shared subjects would tell that one person left.

use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::up_to_tens;
use vizard_anonymizer::verify::{Composition, Judged, Series, Shape, composition, series};

use crate::ids::ReleaseId;

/// A draft beside the public releases of the same people.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Those that share subjects with it.
    pub with: Vec<Overlap>,
    /// What the check of the whole series says; `None` where what a release
    /// shows is not kept, so that nobody can say.
    pub series: Option<Series>,
}

/// A public release that shares subjects with a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The release.
    pub release: ReleaseId,
    /// What both tell together; `None` where what it showed is not kept, so
    /// that nobody can say.
    pub together: Option<Composition>,
}

/// Compares what a draft shows with what public releases of the same people
/// show, each with its kept bytes.
///
/// Time and memory are linear in subjects; not for a thread that must not wait.
pub fn compare(draft: &[u8], public: &[(ReleaseId, Option<Vec<u8>>)]) -> Compared {
    let draft = Candidates::from_bytes(draft).ok();
    let shown: Vec<Option<Candidates>> = public
        .iter()
        .map(|(_, kept)| Candidates::from_bytes(kept.as_ref()?).ok())
        .collect();
    let compared = public
        .iter()
        .zip(&shown)
        .filter_map(|((release, _), shown)| {
            let together = match (&draft, shown) {
                (Some(draft), Some(shown)) => {
                    Some(composition(draft, &[shown], CancelFlag::never()))
                }
                _ => None,
            };
            let shares = together.as_ref().is_none_or(|together| together.shared > 0);
            shares.then_some(Overlap {
                release: *release,
                together,
            })
        });
    let with = compared.collect();
    let known: Option<Vec<&Candidates>> = shown.iter().map(Option::as_ref).collect();
    Compared {
        with,
        series: known.and_then(|known| Some(series(draft.as_ref()?, &known))),
    }
}

impl Compared {
    /// Whether the releases keep together what each claims.
    pub fn is_safe(&self) -> bool {
        self.series.as_ref().is_some_and(Series::is_safe)
    }

    /// The figures as they are kept beside both releases of each pair.
    pub fn documents(&self) -> Vec<(ReleaseId, Value)> {
        let documents = self.with.iter().map(|one| {
            let mut document = one.document();
            document["safe"] = json!(self.is_safe());
            for attribute in document["attributes"].as_array_mut().into_iter().flatten() {
                attribute["shape"] = self.shape(attribute["attribute"].as_str());
            }
            (one.release, document)
        });
        documents.collect()
    }

    fn shape(&self, attribute: Option<&str>) -> Value {
        let judged = self.series.iter().flat_map(|series| &series.attributes);
        let mut judged = judged.filter(|(name, _)| Some(name.as_str()) == attribute);
        match judged.next() {
            Some((_, Judged::Holds(shape))) => json!(word(*shape)),
            _ => Value::Null,
        }
    }

    /// Why the series is not safe, in one sentence.
    pub fn objection(&self) -> String {
        let Some(series) = &self.series else {
            return "What a release showed is not kept".to_owned();
        };
        if series.unknown > 0 {
            return format!(
                "Of {} of these releases too little is known for the check of a series",
                series.unknown
            );
        }
        let attributes = series
            .attributes
            .iter()
            .map(|(name, judged)| (name.as_str(), judged));
        let all = attributes.chain([("who is who", &series.identity)]);
        let said: Vec<String> = all
            .filter_map(|(name, judged)| objection(name, *judged))
            .collect();
        format!("The check of the series fails: {}", said.join("; "))
    }
}

fn word(shape: Shape) -> &'static str {
    match shape {
        Shape::Increments => "increments",
        Shape::Nested => "nested",
        Shape::Invariant => "invariant",
    }
}

fn objection(name: &str, judged: Judged) -> Option<String> {
    let Judged::Fails { nested, invariant } = judged else {
        return None;
    };
    let nested = up_to_tens(nested);
    Some(match invariant {
        None => format!("{name}: up to {nested} subjects are not in nested groups"),
        Some(invariant) => format!(
            "{name}: up to {nested} subjects are not in nested groups, and up to {} do not keep \
             their set of values",
            up_to_tens(invariant)
        ),
    })
}

impl Overlap {
    /// The figures of one pair.
    fn document(&self) -> Value {
        let Some(together) = &self.together else {
            return json!({ "shared_subjects": null, "attributes": [] });
        };
        let attributes = together.attributes.iter().map(|one| {
            json!({
                "attribute": one.attribute,
                "l": one.l,
                "below_l": up_to_tens(one.below_l),
                "one_candidate": up_to_tens(one.one_left),
                "certain": up_to_tens(one.certain),
            })
        });
        json!({
            "shared_subjects": up_to_tens(together.shared),
            "attributes": attributes.collect::<Vec<_>>(),
        })
    }
}

/// The sentence of *not protected* about a release that shares subjects, from
/// what is kept of it; `None` where both keep together what each claims.
pub fn sentence(kept: &Value) -> Option<String> {
    if kept["safe"] == json!(true) {
        return None;
    }
    Some(warning(kept))
}

fn warning(kept: &Value) -> String {
    let release = kept["release"].as_str().unwrap_or("another release");
    let Some(shared) = kept["shared_subjects"].as_u64() else {
        return format!(
            "comparison with {release}, which is about the same people: what both tell together \
             is not known"
        );
    };
    let attributes = kept["attributes"].as_array().into_iter().flatten();
    let figures: Vec<String> = attributes.map(figures).collect();
    let figures = if figures.is_empty() {
        "what both tell together was not measured".to_owned()
    } else {
        figures.join("; ")
    };
    format!(
        "comparison with {release}, which shares up to {shared} subjects with this one: {figures}. \
         These figures are lower bounds"
    )
}

fn figures(one: &Value) -> String {
    format!(
        "{} has fewer than {} possible values for up to {} of them, one for {}, and is certain by \
         propagation for {}",
        one["attribute"].as_str().unwrap_or_default(),
        one["l"],
        one["below_l"],
        one["one_candidate"],
        one["certain"]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use vizard_anonymizer::release::candidates::{AttributeCandidates, Identity};

    fn kept(subjects: &[&str], class_of: &[u32]) -> Vec<u8> {
        let candidates = Candidates {
            subjects: subjects.iter().map(|one| String::from(*one)).collect(),
            attributes: vec![AttributeCandidates {
                name: "ill".into(),
                l: 2,
                stands_in_rows: false,
                is_l_alone: true,
                is_whole: true,
                is_counted: true,
                values: ["a", "b", "c", "d"].map(String::from).into(),
                classes: match class_of[1] {
                    0 => vec![vec![(0, 1), (1, 1)], vec![(2, 1), (3, 1)]],
                    _ => vec![vec![(0, 1), (2, 1)], vec![(1, 1), (3, 1)]],
                },
                class_of: class_of.to_vec(),
            }],
            identity: Identity::Exact,
            is_complete: true,
            ..Candidates::default()
        };
        candidates.to_bytes().expect("memory")
    }

    const PEOPLE: [&str; 4] = ["p1", "p2", "p3", "p4"];

    #[test]
    fn releases_that_share_nobody_are_not_named() {
        let (draft, other) = (
            kept(&PEOPLE, &[0, 0, 1, 1]),
            kept(&["q1", "q2", "q3", "q4"], &[0, 0, 1, 1]),
        );
        let found = compare(&draft, &[(ReleaseId::generate(), Some(other))]);
        assert_eq!(found.with, []);
        assert!(found.is_safe());
    }

    #[test]
    fn shared_people_are_named_with_figures_in_tens() {
        let draft = kept(&PEOPLE, &[0, 0, 1, 1]);
        let other = kept(&PEOPLE, &[0, 1, 0, 1]);
        let release = ReleaseId::generate();
        let found = compare(&draft, &[(release, Some(other))]);
        let (_, mut document) = found.documents().remove(0);
        assert_eq!(document["shared_subjects"], 10);
        assert_eq!(document["attributes"][0]["certain"], 10);
        assert_eq!(document["safe"], false);
        document["release"] = json!(release);
        let said = sentence(&document).expect("a warning");
        assert!(
            said.contains(&release.to_string()) && said.contains("certain"),
            "{said}"
        );
        let said = found.objection();
        assert!(said.contains("ill: up to 10 subjects"), "{said}");
    }

    #[test]
    fn the_same_classes_again_are_safe_and_no_warning() {
        let draft = kept(&PEOPLE, &[0, 0, 1, 1]);
        let found = compare(&draft, &[(ReleaseId::generate(), Some(draft.clone()))]);
        assert!(found.is_safe());
        let (_, document) = found.documents().remove(0);
        assert_eq!(document["attributes"][0]["shape"], "nested");
        assert_eq!(sentence(&document), None);
    }

    #[test]
    fn a_release_of_which_nothing_is_kept_counts_as_shared() {
        let draft = kept(&PEOPLE, &[0, 0, 1, 1]);
        let found = compare(&draft, &[(ReleaseId::generate(), None)]);
        assert_eq!(found.with[0].together, None);
        assert!(!found.is_safe());
        let (_, document) = found.documents().remove(0);
        assert!(sentence(&document).is_some_and(|said| said.contains("not known")));
    }
}
