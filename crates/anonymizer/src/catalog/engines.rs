//! The closed list of engines: parsing, policy, dispatch, description.

use serde_json::{Value, json};

use crate::engine::arp::{self, aip, anatomy, ring};
use crate::engine::baseline::mondrian;
use crate::engine::one_to_many::{self, rmr};
use crate::engine::{EngineError, RunContext, lgb, personalized, slicing};
use crate::microdata::{Multiplicity, Schema, Table, expectation};
use crate::privacy::{Policy, Requirements};
use crate::release::{Release, order, statement};

/// One engine with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// Local generalization and bucketization.
    Lgb(lgb::Params),
    /// 1:M-generalization with (k, l)-diversity.
    OneToMany(one_to_many::Params),
    /// (k, k^m)-anonymity of quasi-identifiers and sets of values.
    Rmr(rmr::Params),
    /// Anonymization on refining partition.
    Arp(arp::Params),
    /// Bucketization of the initial partition.
    Aip(arp::InitialParams),
    /// Anatomy.
    Anatomy(arp::AnatomyParams),
    /// Ring generalization of the initial partition.
    Ng(arp::InitialParams),
    /// Generalization by multi-dimensional partition.
    Mondrian(mondrian::Params),
    /// k-anonymity with a bound on leakage that each subject sets.
    Personalized(personalized::Params),
    /// Columns permuted inside buckets.
    Slicing(slicing::Params),
}

impl Engine {
    /// Names of all of them, in the order of `GET /v1/engines`.
    pub const NAMES: [&str; 10] = [
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

    /// Reads the parameters of the engine called `name` and checks them
    /// against the schema. Unknown engines, parameters and attributes are
    /// `InvalidParameter`.
    pub fn parse(name: &str, parameters: &Value, schema: &Schema) -> Result<Self, EngineError> {
        let engine = match name {
            "lgb" => Self::Lgb(read(parameters)?),
            "one_to_many" => Self::OneToMany(read(parameters)?),
            "rmr" => Self::Rmr(read(parameters)?),
            "arp" => {
                arp::refuse_withdrawn(parameters)?;
                Self::Arp(read(parameters)?)
            }
            "aip" => Self::Aip(read(parameters)?),
            "anatomy" => Self::Anatomy(read(parameters)?),
            "ng" => Self::Ng(read(parameters)?),
            "mondrian" => Self::Mondrian(read(parameters)?),
            "personalized" => Self::Personalized(read(parameters)?),
            "slicing" => Self::Slicing(read(parameters)?),
            _ => {
                return Err(EngineError::InvalidParameter {
                    parameter: "engine".into(),
                    reason: "no such engine; GET /v1/engines lists them".into(),
                });
            }
        };
        engine.check_multiplicity(schema)?;
        engine.policy(schema)?;
        Ok(engine)
    }

    /// Name in the API and in manifests.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lgb(_) => "lgb",
            Self::OneToMany(_) => "one_to_many",
            Self::Rmr(_) => "rmr",
            Self::Arp(_) => "arp",
            Self::Aip(_) => "aip",
            Self::Anatomy(_) => "anatomy",
            Self::Ng(_) => "ng",
            Self::Mondrian(_) => "mondrian",
            Self::Personalized(_) => "personalized",
            Self::Slicing(_) => "slicing",
        }
    }

    /// The parameters with defaults filled in, for the manifest.
    pub fn parameters(&self) -> Value {
        let written = match self {
            Self::Lgb(parameters) => serde_json::to_value(parameters),
            Self::OneToMany(parameters) => serde_json::to_value(parameters),
            Self::Rmr(parameters) => serde_json::to_value(parameters),
            Self::Arp(parameters) => serde_json::to_value(parameters),
            Self::Aip(parameters) => serde_json::to_value(parameters),
            Self::Anatomy(parameters) => serde_json::to_value(parameters),
            Self::Ng(parameters) => serde_json::to_value(parameters),
            Self::Mondrian(parameters) => serde_json::to_value(parameters),
            Self::Personalized(parameters) => serde_json::to_value(parameters),
            Self::Slicing(parameters) => serde_json::to_value(parameters),
        };
        // Parameters are plain structs of numbers and names: writing them cannot fail.
        written.unwrap_or(Value::Null)
    }

    /// The floors that these parameters put under every record.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        match self {
            Self::Lgb(parameters) => parameters.policy(schema),
            Self::OneToMany(parameters) => parameters.policy(schema),
            Self::Rmr(parameters) => parameters.policy(schema),
            Self::Arp(parameters) => parameters.policy(schema),
            Self::Aip(parameters) => aip::policy(parameters, schema),
            Self::Anatomy(parameters) => parameters.policy(schema),
            Self::Ng(parameters) => ring::policy(parameters, schema),
            Self::Mondrian(parameters) => parameters.policy(schema),
            Self::Personalized(parameters) => parameters.policy(schema),
            Self::Slicing(parameters) => parameters.policy(schema),
        }
    }

    /// Runs the engine in the present rayon pool. Tables are in the order in
    /// which they are published.
    pub fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext,
    ) -> Result<Release, EngineError> {
        let mut release = self.make(table, requirements, context)?;
        order(&mut release.tables, &mut release.lineage, &context.seed);
        Ok(release)
    }

    fn make(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext,
    ) -> Result<Release, EngineError> {
        match self {
            Self::Lgb(parameters) => lgb::run(table, requirements, parameters, context),
            Self::OneToMany(parameters) => {
                one_to_many::run(table, requirements, parameters, context)
            }
            Self::Rmr(parameters) => rmr::run(table, requirements, parameters, context),
            Self::Arp(parameters) => arp::run(table, requirements, parameters, context),
            Self::Aip(parameters) => aip::run(table, requirements, parameters, context),
            Self::Anatomy(parameters) => anatomy::run(table, requirements, parameters, context),
            Self::Ng(parameters) => ring::run(table, requirements, parameters, context),
            Self::Mondrian(parameters) => mondrian::run(table, requirements, parameters, context),
            Self::Personalized(parameters) => {
                personalized::run(table, requirements, parameters, context)
            }
            Self::Slicing(parameters) => slicing::run(table, requirements, parameters, context),
        }
    }

    fn check_multiplicity(&self, schema: &Schema) -> Result<(), EngineError> {
        let wanted = match self {
            Self::Lgb(_)
            | Self::Arp(_)
            | Self::Aip(_)
            | Self::Anatomy(_)
            | Self::Ng(_)
            | Self::Mondrian(_)
            | Self::Personalized(_)
            | Self::Slicing(_) => Multiplicity::One,
            Self::OneToMany(_) | Self::Rmr(_) => Multiplicity::Many,
        };
        if schema.multiplicity() == wanted {
            return Ok(());
        }
        Err(EngineError::InvalidParameter {
            parameter: "engine".into(),
            reason: format!(
                "`{}` publishes datasets of the other multiplicity",
                self.name()
            ),
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(parameters: &Value) -> Result<T, EngineError> {
    T::deserialize(parameters).map_err(|error| EngineError::InvalidParameter {
        parameter: "parameters".into(),
        reason: expectation(&error),
    })
}

/// What `GET /v1/engines` answers: engines, parameters as JSON Schema,
/// guarantees, papers, and the words of their releases.
pub fn descriptions() -> Value {
    let mut all = [buckets_and_persons(), blocks(), groups_and_columns()].concat();
    for engine in &mut all {
        let name = engine["name"].as_str().unwrap_or_default().to_owned();
        engine["adversary"] = statement::adversary_of(&name).into();
        engine["not_protected"] = statement::not_protected_of(&name).into();
    }
    Value::Array(all)
}

/// Engines that publish buckets beside groups, or one row a subject.
fn buckets_and_persons() -> Vec<Value> {
    vec![
        json!({
            "name": "lgb",
            "title": "Local generalization and bucketization",
            "multiplicity": "one",
            "parameters": lgb::Params::json_schema(),
            "guarantees": ["k_anonymity", "l_diversity", "t_closeness", "min_spread", "max_leakage"],
            "tables": ["microdata", "buckets", "group_buckets"],
            "papers": ["Local Generalization and Bucketization Technique for Personalized Privacy Preservation"],
        }),
        json!({
            "name": "one_to_many",
            "title": "1:M-generalization with (k, l)-diversity",
            "multiplicity": "many",
            "parameters": one_to_many::Params::json_schema(),
            "guarantees": ["k_anonymity", "fingerprint_k", "l_diversity", "value_l", "max_leakage"],
            "tables": ["persons"],
            "papers": ["Anonymizing 1:M microdata with high utility"],
        }),
        json!({
            "name": "rmr",
            "title": "(k, k^m)-anonymity of quasi-identifiers and sets of values",
            "multiplicity": "many",
            "parameters": rmr::Params::json_schema(),
            "guarantees": ["k_anonymity", "km_anonymity", "max_leakage"],
            "tables": ["persons"],
            "papers": ["Anonymizing data with relational and transaction attributes"],
        }),
    ]
}

/// Engines that publish sensitive values in blocks.
fn blocks() -> Vec<Value> {
    vec![
        json!({
            "name": "arp",
            "title": "Anonymization on refining partition",
            "multiplicity": "one",
            "parameters": arp::Params::json_schema(),
            "guarantees": ["l_diversity", "min_spread", "randomized_response", "max_leakage"],
            "tables": ["quasi", "sensitive", "microdata"],
            "papers": ["Anonymization on refining partition: same privacy, more utility"],
        }),
        json!({
            "name": "aip",
            "title": "Bucketization of the initial partition",
            "multiplicity": "one",
            "parameters": arp::InitialParams::json_schema(),
            "guarantees": ["l_diversity", "min_spread", "max_leakage"],
            "tables": ["quasi", "sensitive"],
            "papers": ["Anonymization on refining partition: same privacy, more utility"],
        }),
        json!({
            "name": "anatomy",
            "title": "Anatomy",
            "multiplicity": "one",
            "parameters": arp::AnatomyParams::json_schema(),
            "guarantees": ["l_diversity", "min_spread", "max_leakage"],
            "tables": ["quasi", "sensitive"],
            "papers": ["Anatomy: simple and effective privacy preservation"],
        }),
        json!({
            "name": "ng",
            "title": "Ring generalization of the initial partition",
            "multiplicity": "one",
            "parameters": arp::InitialParams::ring_json_schema(),
            "guarantees": ["ring_diversity", "max_leakage"],
            "tables": ["microdata"],
            "papers": ["Non-homogeneous generalization in privacy preserving data publishing"],
        }),
    ]
}

/// Engines that publish groups, or columns permuted inside buckets.
fn groups_and_columns() -> Vec<Value> {
    vec![
        json!({
            "name": "mondrian",
            "title": "Generalization by multi-dimensional partition",
            "multiplicity": "one",
            "parameters": mondrian::Params::json_schema(),
            "guarantees": [
                "k_anonymity", "distinct_l_diversity", "entropy_l_diversity", "recursive_l_diversity",
                "t_closeness", "min_spread", "max_leakage"
            ],
            "tables": ["microdata"],
            "papers": ["Mondrian multidimensional k-anonymity"],
        }),
        json!({
            "name": "personalized",
            "title": "k-anonymization satisfying personalized privacy",
            "multiplicity": "one",
            "parameters": personalized::Params::json_schema(),
            "guarantees": ["k_anonymity", "max_leakage"],
            "tables": ["microdata"],
            "papers": ["The k-anonymization method satisfying personalized privacy preservation"],
        }),
        json!({
            "name": "slicing",
            "title": "Slicing: columns permuted inside buckets",
            "multiplicity": "one",
            "parameters": slicing::Params::json_schema(),
            "guarantees": ["k_anonymity", "l_diversity", "min_spread", "t_closeness", "max_leakage"],
            "tables": ["sliced", "columns"],
            "papers": ["Slicing: A New Approach for Privacy Preserving Data Publishing"],
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters that each engine takes, for the schemas below.
    const PARAMETERS: [(&str, &str); 10] = [
        ("lgb", r#"{"k": 2, "l": 2}"#),
        ("one_to_many", r#"{"k": 2, "l": 2}"#),
        ("rmr", r#"{"k": 2, "m": 2, "delta": 0.5}"#),
        ("arp", r#"{"l": 2}"#),
        ("aip", r#"{"l": 2}"#),
        ("anatomy", r#"{"l": 2}"#),
        ("ng", r#"{"l": 2}"#),
        ("mondrian", r#"{"k": 2}"#),
        ("personalized", r#"{"k": 2, "sensitive": "illness"}"#),
        ("slicing", r#"{"l": 2, "clusters": 2}"#),
    ];

    fn schema(multiplicity: &Value) -> Schema {
        let document = json!({
            "name": "made-up", "subject_key": "id", "multiplicity": multiplicity,
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"}
            ]
        });
        serde_json::from_value(document).expect("the schema is valid")
    }

    fn parsed(name: &str, schema: &Schema) -> Engine {
        let given = PARAMETERS.iter().find(|(of, _)| *of == name);
        let (_, parameters) = given.expect("every engine has parameters here");
        let parameters = serde_json::from_str(parameters).expect("JSON");
        Engine::parse(name, &parameters, schema).expect("an engine")
    }

    #[test]
    fn the_list_of_engines_names_the_adversary_that_manifests_name() {
        let described = descriptions();
        let described = described.as_array().expect("a list");
        assert_eq!(described.len(), PARAMETERS.len());
        let names: Vec<_> = described.iter().map(|engine| &engine["name"]).collect();
        assert_eq!(names, Engine::NAMES);
        for engine in described {
            let name = engine["name"].as_str().expect("a name");
            let schema = schema(&engine["multiplicity"]);
            let policy = parsed(name, &schema).policy(&schema).expect("a policy");
            // What a manifest says with a number, the list says with a letter.
            let listed = engine["adversary"].as_str().expect("a text");
            let listed = listed.replace("up to m ", "up to 2 ");
            assert_eq!(listed, statement::adversary(name, &policy), "{name}");
            let all = engine["not_protected"].as_array().expect("a list");
            for sentence in statement::not_protected(name, &schema, &policy, &[]) {
                let of_any = sentence.replace(" illness ", " an attribute ");
                assert!(all.contains(&of_any.as_str().into()), "{name}: {sentence}");
            }
        }
    }
}
