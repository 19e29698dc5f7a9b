//! The verifier: shows from the published bytes that a release keeps what its
//! manifest claims.
//!
//! It imports `microdata`, `privacy` and `release` and nothing else: never an
//! engine, a utility measure or a query. Every check is written from the
//! definitions of the papers and of the design, and every check returns the
//! value that was *attained*, not only yes or no. A failed check is data; no
//! table, however broken, makes the verifier panic or give up.
//!
//! One file a property. [`verify`] takes the rules of the engine that the job
//! ordered, because each engine publishes tables of its own shape; what every
//! release must be is in `rules`, for all of them. An engine without rules is
//! a failed check. What the manifest says decides
//! nothing: it is written anew and compared (`manifest`).

mod attack;
mod background;
mod blocks;
mod bucketized;
mod buckets;
mod claims;
mod classes;
mod closeness;
mod composition;
mod conservation;
mod coverage;
mod difference;
mod diversity;
mod equivalence;
mod evidence;
mod exact;
mod exclusions;
mod generalized;
mod identifiers;
mod inference;
mod k_anonymity;
mod kept_groups;
mod leakage;
mod manifest;
mod maximal;
mod meaning;
mod minimality;
mod numbering;
mod order;
mod personalized;
mod persons;
mod portions;
mod rules;
mod series;
mod shape;
mod sliced;
mod transformed;
mod verdict;
mod view;
mod ways;
mod whole;
mod wishes;

pub use background::background_knowledge;
pub use composition::{AttributeComposition, Composition, composition};
pub use difference::together;
pub use evidence::{AtOnce, Evidence, Ordered};
pub use exact::{direct_identifiers, k_of_rows, published_exactly, stands_out};
pub use inference::inference;
pub use minimality::{Rerun, minimality, reruns};
pub use portions::{Portion, Portions, of_one_portion, portions};
pub use series::{Judged, Series, Shape, series, series_safe};
pub use transformed::MovedDates;
pub use verdict::{Check, Place, Section, State, Verdict};

use self::attack::Homes;
use self::exclusions::exclusions_asked_for;
use crate::privacy::Model;

/// Verifies a release by the rules of the engine that its job ordered, which
/// must be an engine for the model of the job's policy.
pub fn verify(evidence: &Evidence) -> Verdict {
    let (mut verdict, (of_manifest, of_hulls)) = evidence.join(
        || by_engine(evidence),
        || (manifest::checks(evidence), attack::tight_hulls(evidence)),
    );
    verdict.checks.extend(of_manifest);
    verdict.checks.extend(of_hulls);
    evidence.cancel.heed();
    verdict.checks.push(exclusions_asked_for(evidence));
    verdict.checks.extend(exact::checks(evidence));
    verdict.checks.extend(kept_groups::checks(evidence));
    verdict.checks.extend(transformed::check(evidence));
    verdict
}

fn by_engine(evidence: &Evidence) -> Verdict {
    let model = &evidence.requirements.policy().model;
    let found = match (evidence.ordered.engine, model) {
        ("lgb", Model::Bucketized { protections }) => Ok(bucketized::rules(evidence, protections)),
        ("one_to_many", Model::Fingerprints { .. }) | ("rmr", Model::Itemsets { .. }) => {
            persons::rules(evidence).ok_or(OTHER_MODEL)
        }
        ("arp" | "aip" | "anatomy" | "ng", &Model::Blocks { form, .. }) => {
            blocks::rules(evidence, form).ok_or(OTHER_MODEL)
        }
        ("mondrian", Model::Generalized { protections, .. }) => {
            Ok(generalized::rules(evidence, protections))
        }
        ("personalized", &Model::Personalized { recoding, .. }) => {
            Ok(personalized::rules(evidence, recoding))
        }
        (
            "slicing",
            Model::Sliced {
                slicing,
                protections,
            },
        ) => {
            let order = sliced::Order {
                slicing,
                protections: protections.clone(),
            };
            Ok(sliced::rules(evidence, order, Homes::default()))
        }
        (name, _) if ENGINES.contains(&name) => Err(OTHER_MODEL),
        _ => Err("no rules are known for the engine that the job ordered"),
    };
    let mut checks = match found {
        Ok(rules) => rules.checks(evidence),
        Err(note) => {
            vec![Check::not_examined(Section::Structure, "engine_known").noting(note)]
        }
    };
    evidence.cancel.heed();
    checks.push(attack::terms_visible(evidence));
    Verdict { checks }
}

/// Engines whose rules are known.
const ENGINES: [&str; 10] = [
    "lgb",
    "one_to_many",
    "rmr",
    "arp",
    "aip",
    "anatomy",
    "ng",
    "mondrian",
    "personalized",
    "slicing",
];

const OTHER_MODEL: &str = "the engine that the job ordered is not for its policy";
