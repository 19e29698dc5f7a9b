//! Claims that are not those of the policy, policies that are not kept, and
//! manifests that are not those of the release.

use rand::RngExt;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::AttributeType;
use vizard_anonymizer::privacy::{K, Model, Policy, Recoding, Requirements, Share};
use vizard_anonymizer::release::{Cell, Content, Guarantee, PublishedColumn};

use super::base::preferences;
use crate::case::{Case, buckets, dictionary};
use crate::negative::{Corruption, Done, Random, any, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = guarantees();
    all.extend(floors());
    all.extend(wishes());
    all.extend(manifests());
    all.extend(tables());
    all
}

fn claims(case: &mut Case, random: &mut Random, change: impl Fn(&mut Guarantee)) -> Done {
    let claims = &mut case.manifest.guarantees;
    let at = random.random_range(0..claims.len());
    let before = claims[at].clone();
    change(&mut claims[at]);
    if claims[at] == before {
        Done::Skip
    } else {
        Done::Keep
    }
}

fn guarantees() -> Vec<Corruption> {
    vec![
        corruption("claim a larger k", CLAIMS, |case, random| {
            claims(case, random, |claim| {
                if let Guarantee::KAnonymity { k, .. } = claim {
                    *k += 1;
                }
            })
        }),
        corruption("claim a smaller k", CLAIMS, |case, random| {
            claims(case, random, |claim| {
                if let Guarantee::KAnonymity { k, .. } = claim {
                    *k -= 1;
                }
            })
        }),
        corruption(
            "claim a bound on another attribute",
            CLAIMS,
            |case, random| {
                claims(case, random, |claim| {
                    if let Guarantee::MaxLeakage { attribute, .. } = claim {
                        *attribute = "job".into();
                    }
                })
            },
        ),
        corruption(
            "claim a bound on every attribute",
            CLAIMS,
            |case, random| {
                claims(case, random, |claim| {
                    if let Guarantee::MaxLeakage { attribute, .. } = claim {
                        *attribute = "*".into();
                    }
                })
            },
        ),
        corruption("claim diversity", CLAIMS, |case, _| {
            let attribute = "disease".into();
            case.manifest
                .guarantees
                .push(Guarantee::LDiversity { attribute, l: 2 });
            Done::Keep
        }),
    ]
}

/// Another policy, which the manifest claims to follow.
fn policy(case: &mut Case, change: impl Fn(&mut Policy)) -> Done {
    let mut policy = case.requirements.policy().clone();
    change(&mut policy);
    for claim in &mut case.manifest.guarantees {
        if let Guarantee::KAnonymity { k, .. } = claim {
            *k = policy.k.get();
        }
    }
    case.requirements = Requirements::new(&case.table, policy, &preferences());
    Done::Keep
}

fn floors() -> Vec<Corruption> {
    vec![
        corruption(
            "let the job ask for larger groups",
            &["k_anonymity", "linkage"],
            |case, _| policy(case, |policy| policy.k = K::new(40).unwrap()),
        ),
        corruption(
            "let the job ask for less leakage",
            &["max_leakage", "k_anonymity"],
            |case, _| {
                policy(case, |policy| {
                    if let Model::Personalized { max_leakage, .. } = &mut policy.model {
                        *max_leakage = Share::new(0.02).unwrap();
                    }
                })
            },
        ),
        corruption(
            "call the paper's values a cut",
            &["sensitive_nodes_do_not_overlap"],
            |case, _| match case.requirements.policy().model {
                Model::Personalized {
                    recoding: Recoding::Paper,
                    ..
                } => policy(case, |policy| {
                    if let Model::Personalized { recoding, .. } = &mut policy.model {
                        *recoding = Recoding::GroupCut;
                    }
                }),
                _ => Done::Skip,
            },
        ),
        corruption("let the job be one of lgb", &["engine_known"], |case, _| {
            let model = buckets(case.table.schema());
            policy(case, |policy| policy.model = model.clone())
        }),
    ]
}

fn wishes() -> Vec<Corruption> {
    vec![
        corruption(
            "let somebody ask for a hundred",
            &["k_anonymity", "linkage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.01})),
        ),
        corruption(
            "let somebody ask for hardly any leakage",
            &["max_leakage", "k_anonymity"],
            |case, random| ask(case, random, json!({"max_leakage": 0.001})),
        ),
        corruption(
            "let somebody name the attribute",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_leakage": {"disease": 0.001}})),
        ),
        corruption(
            "let somebody guard everything",
            &["max_leakage"],
            |case, random| {
                ask(
                    case,
                    random,
                    json!({"max_leakage": 0.9, "guard": {"disease": ["any"]}}),
                )
            },
        ),
        corruption(
            "let somebody guard what there is not",
            &["max_leakage"],
            |case, random| {
                ask(
                    case,
                    random,
                    json!({"max_leakage": 0.9, "guard": {"disease": ["measles"]}}),
                )
            },
        ),
        corruption(
            "let somebody ask to be gone",
            &["exclusions_honoured"],
            |case, random| ask(case, random, json!({"exclude": true})),
        ),
    ]
}

fn manifests() -> Vec<Corruption> {
    vec![corruption(
        "change a disease, not the digest",
        &["table_digests"],
        |case, random| {
            let row = random.random_range(0..case.rows());
            let mut cells = case.cells("microdata", "disease");
            cells[row] = Cell::Label("measles".into());
            case.set_cells("microdata", "disease", cells);
            Done::Keep
        },
    )]
}

/// Tables that are not those of the engine.
fn tables() -> Vec<Corruption> {
    vec![
        corruption(
            "describe the diseases wrongly",
            &["tables_and_columns"],
            |case, _| {
                let mut columns = case.manifest.tables[0].columns.iter_mut();
                let disease = columns.find(|column| column.name == "disease");
                disease.unwrap().content = Content::Exact;
                Done::Keep
            },
        ),
        corruption(
            "name an engine of another model",
            &["manifest_as_rendered"],
            |case, random| {
                let names = ["lgb", "rmr", "", "personalised"];
                case.manifest.engine = any(&names, random).unwrap().into();
                Done::Keep
            },
        ),
        corruption(
            "publish the diseases once more",
            &["tables_and_columns"],
            |case, _| {
                let rows = 0..case.rows();
                let cells = rows.map(|row| case.exact("disease", case.code("disease", row)));
                let cells = dictionary(cells.collect());
                case.published_mut("microdata")
                    .columns
                    .push(PublishedColumn {
                        name: "diagnosis".into(),
                        content: Content::Exact,
                        kind: Some(AttributeType::Categorical),
                        cells,
                    });
                Done::Seal
            },
        ),
        corruption(
            "call the diseases exact",
            &["tables_and_columns"],
            |case, _| {
                let mut columns = case.published_mut("microdata").columns.iter_mut();
                let disease = columns.find(|column| column.name == "disease");
                disease.unwrap().content = Content::Exact;
                Done::Seal
            },
        ),
    ]
}

fn ask(case: &mut Case, random: &mut Random, document: Value) -> Done {
    crate::negative::ask(case, random, preferences(), document)
}
