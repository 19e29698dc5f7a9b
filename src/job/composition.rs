//! Whether a draft is about people of whom other releases are public, and what
//! they tell together.
//!
//! Counts are rounded up to tens: they become public with both releases, and
//! an exact number of shared subjects would tell that one person left.

use serde_json::{Value, json};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::verify::{Composition, composition};

use crate::ids::ReleaseId;

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
/// show, each with its kept bytes; answers those that share subjects with it.
///
/// Time and memory are linear in subjects; not for a thread that must not wait.
pub fn overlaps(draft: &[u8], public: &[(ReleaseId, Option<Vec<u8>>)]) -> Vec<Overlap> {
    let draft = Candidates::from_bytes(draft).ok();
    let compared = public.iter().filter_map(|(release, kept)| {
        let shown = kept
            .as_ref()
            .and_then(|kept| Candidates::from_bytes(kept).ok());
        let together = match (&draft, &shown) {
            (Some(draft), Some(shown)) => Some(composition(draft, &[shown])),
            _ => None,
        };
        let shares = together.as_ref().is_none_or(|together| together.shared > 0);
        shares.then_some(Overlap {
            release: *release,
            together,
        })
    });
    compared.collect()
}

impl Overlap {
    /// The figures as they are kept beside both releases.
    pub fn document(&self) -> Value {
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
/// what is kept of it.
pub fn sentence(kept: &Value) -> String {
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

fn up_to_tens(count: u64) -> u64 {
    count.div_ceil(10) * 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use vizard_anonymizer::release::candidates::AttributeCandidates;

    fn kept(subjects: &[&str], class_of: &[u32]) -> Vec<u8> {
        let candidates = Candidates {
            subjects: subjects.iter().map(|one| String::from(*one)).collect(),
            attributes: vec![AttributeCandidates {
                name: "ill".into(),
                l: 2,
                is_whole: true,
                values: ["a", "b", "c", "d"].map(String::from).into(),
                classes: match class_of[1] {
                    0 => vec![vec![(0, 1), (1, 1)], vec![(2, 1), (3, 1)]],
                    _ => vec![vec![(0, 1), (2, 1)], vec![(1, 1), (3, 1)]],
                },
                class_of: class_of.to_vec(),
            }],
        };
        candidates.to_bytes().expect("memory")
    }

    #[test]
    fn releases_that_share_nobody_are_not_named() {
        let (draft, other) = (kept(&["p1", "p2"], &[0, 0]), kept(&["q1", "q2"], &[0, 0]));
        assert_eq!(
            overlaps(&draft, &[(ReleaseId::generate(), Some(other))]),
            []
        );
    }

    #[test]
    fn shared_people_are_named_with_figures_in_tens() {
        let people = ["p1", "p2", "p3", "p4"];
        let draft = kept(&people, &[0, 0, 1, 1]);
        let other = kept(&people, &[0, 1, 0, 1]);
        let release = ReleaseId::generate();
        let found = overlaps(&draft, &[(release, Some(other))]);
        let mut document = found[0].document();
        assert_eq!(document["shared_subjects"], 10);
        assert_eq!(document["attributes"][0]["certain"], 10);
        document["release"] = json!(release);
        let said = sentence(&document);
        assert!(
            said.contains(&release.to_string()) && said.contains("certain"),
            "{said}"
        );
    }

    #[test]
    fn a_release_of_which_nothing_is_kept_counts_as_shared() {
        let draft = kept(&["p1", "p2"], &[0, 0]);
        let found = overlaps(&draft, &[(ReleaseId::generate(), None)]);
        assert_eq!(found[0].together, None);
        assert!(sentence(&found[0].document()).contains("not known"));
    }
}
