//! The closed list of engines: parsing, policy, dispatch, description.
//!
//! [`ENGINES`] is the one list; nothing else here knows an engine by name.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::engine::baseline::mondrian;
use crate::engine::one_to_many::{self, rmr};
use crate::engine::{self, EngineError, Info, RunContext, arp, lgb, personalized, slicing};
use crate::microdata::{Preference, Schema, Table, expectation};
use crate::privacy::{
    BlockForm, CancelFlag, Model, Parts, PartsRule, Policy, ProtectedSet, Requirements, Seed,
};
use crate::release::candidates::Candidates;
use crate::release::{Release, order, statement};

use super::parts::elsewhere::{OpenOrder, PartsElsewhere, TableOrder};
use super::runs::Runs;
use super::{parameters, parts};

/// All engines, in the order of `GET /v1/engines`.
static ENGINES: [Entry; 10] = [
    Entry::of::<lgb::Params>(),
    Entry::of::<one_to_many::Params>(),
    Entry::of::<rmr::Params>(),
    Entry::of::<arp::Params>(),
    Entry::of::<arp::AipParams>(),
    Entry::of::<arp::AnatomyParams>(),
    Entry::of::<arp::RingParams>(),
    Entry::of::<mondrian::Params>(),
    Entry::of::<personalized::Params>(),
    Entry::of::<slicing::Params>(),
];

/// An engine of the list.
struct Entry {
    info: Info,
    read: fn(&Value) -> Result<Read, EngineError>,
    parameters: fn() -> Value,
}

/// Parameters as they were read, and as a manifest has them: with defaults.
type Read = (Arc<dyn Runs>, Value);

impl Entry {
    const fn of<E: engine::Engine>() -> Self {
        Self {
            info: E::INFO,
            read: read::<E>,
            parameters: parameters::schema_of::<E>,
        }
    }
}

fn read<E: engine::Engine>(parameters: &Value) -> Result<Read, EngineError> {
    E::refuse_withdrawn(parameters)?;
    let engine = E::deserialize(parameters).map_err(|error| EngineError::InvalidParameter {
        parameter: "parameters".into(),
        reason: expectation(&error),
    })?;
    // Parameters are plain structs of numbers and names: writing them cannot fail.
    let written = serde_json::to_value(&engine).unwrap_or(Value::Null);
    Ok((Arc::new(engine), written))
}

/// What a run gave.
pub(super) enum Outcome {
    /// A release in memory.
    Whole(Release),
    /// One in parts, in room beside the memory.
    Parts(Box<parts::Union>),
}

/// One engine with its parameters.
#[derive(Clone, Debug)]
pub struct Engine {
    info: &'static Info,
    parameters: Value,
    runs: Arc<dyn Runs>,
    parts: PartsRule,
    elsewhere: Option<Arc<dyn PartsElsewhere>>,
}

impl PartialEq for Engine {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.parameters == other.parameters
            && self.parts == other.parts
    }
}

impl Engine {
    /// Names of all of them, in the order of `GET /v1/engines`.
    pub const NAMES: [&str; ENGINES.len()] = names();

    /// Reads the parameters of the engine called `name` and checks them
    /// against the schema. Unknown engines, parameters and attributes are
    /// `InvalidParameter`.
    pub fn parse(name: &str, parameters: &Value, schema: &Schema) -> Result<Self, EngineError> {
        let invalid = |reason: String| EngineError::InvalidParameter {
            parameter: "engine".into(),
            reason,
        };
        let Some(entry) = ENGINES.iter().find(|entry| entry.info.name == name) else {
            return Err(invalid("no such engine; GET /v1/engines lists them".into()));
        };
        let (runs, parameters) = (entry.read)(parameters)?;
        if schema.multiplicity() != entry.info.multiplicity {
            let reason = format!("`{name}` publishes datasets of the other multiplicity");
            return Err(invalid(reason));
        }
        runs.policy(schema)?;
        Ok(Self {
            info: &entry.info,
            parameters,
            runs,
            parts: PartsRule::default(),
            elsewhere: None,
        })
    }

    /// The same with tables published in parts as a job says.
    #[must_use]
    pub fn with_parts(mut self, parts: PartsRule) -> Self {
        self.parts = parts;
        self
    }

    /// The same with parts that somebody else counts and publishes, to the same release.
    #[must_use]
    pub fn with_parts_elsewhere(mut self, elsewhere: Arc<dyn PartsElsewhere>) -> Self {
        self.elsewhere = Some(elsewhere);
        self
    }

    /// Makes an order ready for parts.
    ///
    /// # Errors
    /// It is no order of this program.
    pub fn open(order: TableOrder) -> Result<OpenOrder, EngineError> {
        order.open(|name, parameters, schema| Ok(Self::parse(name, parameters, schema)?.runs))
    }

    /// The parts that a table is published in under these requirements, if it is.
    ///
    /// # Errors
    /// The job wants parts, and the engine cannot keep its promise part by part.
    pub fn parts_of(&self, requirements: &Requirements) -> Result<Option<Parts>, EngineError> {
        let keeps_history = requirements.history().is_some();
        let check = || parts::check(requirements.policy(), keeps_history);
        match self.parts {
            PartsRule::Given(None) => Ok(None),
            PartsRule::Given(Some(parts)) => check().map(|()| Some(parts)),
            PartsRule::BySize => {
                let parts = Parts::by_default(requirements.records() as u64);
                Ok(parts.filter(|_| check().is_ok()))
            }
        }
    }

    /// Refuses parts that a job wants where the engine cannot keep its promise part
    /// by part; `keeps_history` where a series keeps groups or sets.
    pub fn check_parts(&self, schema: &Schema, keeps_history: bool) -> Result<(), EngineError> {
        match self.parts {
            PartsRule::Given(Some(_)) => parts::check(&self.policy(schema)?, keeps_history),
            PartsRule::Given(None) | PartsRule::BySize => Ok(()),
        }
    }

    /// Whether the engine called `name` has this parameter.
    pub fn takes(name: &str, parameter: &str) -> bool {
        let entry = ENGINES.iter().find(|entry| entry.info.name == name);
        entry.is_some_and(|entry| !(entry.parameters)()["properties"][parameter].is_null())
    }

    /// Name in the API and in manifests.
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The parameters with defaults filled in, for the manifest.
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// The floors that these parameters put under every record.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.runs.policy(schema)
    }

    /// The attributes whose sets of values a series of these releases keeps.
    ///
    /// The error: the engine does not publish so that they can be kept.
    pub fn keeps_sets_of(&self, schema: &Schema) -> Result<ProtectedSet, EngineError> {
        arp::keeps_sets_of(&self.policy(schema)?, schema)
    }

    /// Whether a series of these releases can keep the groups of its subjects.
    ///
    /// # Errors
    /// The engine publishes no groups of rows with exact sensitive values, or
    /// what it promises of them depends on who else is there; or it does not join
    /// public groups, where that is asked.
    pub fn check_keeps_groups(&self, schema: &Schema, joins: bool) -> Result<(), EngineError> {
        let invalid = |parameter: &str, reason: &str| EngineError::InvalidParameter {
            parameter: parameter.into(),
            reason: reason.into(),
        };
        match self.policy(schema)?.model {
            Model::Generalized { protections, .. } => {
                if protections.iter().all(|(_, own)| own.closeness.is_none()) {
                    return Ok(());
                }
                let reason = "is relative to everyone, who are others in each release of a nested \
                              series: leave it out, or take the mode increments";
                Err(invalid("t_closeness", reason))
            }
            Model::Blocks {
                form: BlockForm::Generalized,
                ..
            } if joins => {
                let reason = "public groups are joined by `mondrian` alone";
                Err(invalid("series.join_groups", reason))
            }
            Model::Blocks {
                form: BlockForm::Generalized,
                ..
            } => Ok(()),
            _ => {
                let reason = "nested is of engines that publish groups of rows: `mondrian`, and \
                              `arp` with `publish`: `generalization`; or take the mode increments";
                Err(invalid("series.mode", reason))
            }
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
        match self.make(table, requirements, context)? {
            Outcome::Whole(release) => Ok(release),
            Outcome::Parts(parts) => Ok(parts.release(context.scratch)?),
        }
    }

    /// Runs the engine, part by part where the table is published in parts. Tables are
    /// in the order in which they are published.
    pub(super) fn make(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext,
    ) -> Result<Outcome, EngineError> {
        if let Some(parts) = self.parts_of(requirements)? {
            let in_parts = parts::InParts {
                engine: &*self.runs,
                name: self.name(),
                parameters: &self.parameters,
                parts,
                elsewhere: self.elsewhere.as_deref(),
            };
            if let Some(union) = parts::run(in_parts, (table, requirements), context)? {
                return Ok(Outcome::Parts(Box::new(union)));
            }
        }
        let mut release = self.runs.run(table, requirements, context)?;
        order(&mut release.tables, &mut release.lineage, &context.seed);
        Ok(Outcome::Whole(release))
    }

    /// What a release of a table shows of its subjects, by the seed and the secret
    /// of a number; nothing where there is none.
    pub fn shown(
        &self,
        table: &Table,
        preferences: &[Preference],
        number: u64,
        cancel: &CancelFlag,
    ) -> Option<Candidates> {
        let policy = self.policy(table.schema()).ok()?;
        let requirements = Requirements::new(table, policy, preferences);
        let context = RunContext {
            // Both are secret, and not the same.
            dataset_secret: Seed::of_number(!number),
            cancel: cancel.clone(),
            ..RunContext::silent(number)
        };
        let here = Self {
            elsewhere: None,
            ..self.clone()
        };
        let release = here.run(table, &requirements, &context).ok()?;
        let tables = &release.tables;
        Some(Candidates::of(
            table,
            &requirements,
            tables,
            &release.lineage,
        ))
    }
}

const fn names() -> [&'static str; ENGINES.len()] {
    let mut names = [""; ENGINES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = ENGINES[at].info.name;
        at += 1;
    }
    names
}

/// What `GET /v1/engines` answers: engines, parameters as JSON Schema,
/// guarantees, papers, and the words of their releases.
pub fn descriptions() -> Value {
    let describe = |entry: &Entry| {
        let mut document = json!(entry.info);
        let name = entry.info.name;
        document["parameters"] = (entry.parameters)();
        document["adversary"] = json!(statement::adversary_of(name));
        document["not_protected"] = json!(statement::not_protected_of(name));
        document
    };
    Value::Array(ENGINES.iter().map(describe).collect())
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
            for sentence in statement::not_protected(name, &schema, &policy, (&[], None, None)) {
                let of_any = sentence.replace(" illness ", " an attribute ");
                assert!(all.contains(&of_any.as_str().into()), "{name}: {sentence}");
            }
        }
    }

    /// Values to try in the place of each parameter.
    fn tried(property: &Value) -> Vec<Value> {
        let mut tried = vec![
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(1),
            json!(2),
            json!(0.5),
            json!(1.5),
            json!(5),
            json!(6),
            json!(4_294_967_296_u64),
            json!(2_000_000),
            json!("other"),
            json!([]),
            json!([[]]),
            json!({}),
            json!(["illness"]),
            json!({"illness": 2}),
            json!({"illness": -2}),
            json!({"illness": {"l": 2}}),
            json!({"illness": {"l": 0}}),
            json!({"illness": {"min_spread": -1}}),
            json!({"illness": {"t_closeness": 1.5}}),
            json!({"illness": {"more": 1}}),
        ];
        tried.extend(property["enum"].as_array().cloned().unwrap_or_default());
        tried
    }

    #[test]
    fn the_json_schema_of_parameters_takes_all_that_the_parser_takes_and_no_other_shape() {
        for entry in &ENGINES {
            let schema = schema(&json!(entry.info.multiplicity));
            let described = (entry.parameters)();
            let validator = jsonschema::validator_for(&described).expect("a JSON Schema");
            let base = PARAMETERS.iter().find(|(of, _)| *of == entry.info.name);
            let base: Value = serde_json::from_str(base.expect("parameters").1).expect("JSON");
            let mut documents = vec![base.clone(), json!({}), json!([]), json!(null)];
            let properties = described["properties"].as_object().expect("properties");
            let unknown = ("more".to_owned(), json!({}));
            for (name, property) in properties.iter().chain([(&unknown.0, &unknown.1)]) {
                for value in tried(property) {
                    let mut document = base.clone();
                    document[name] = value;
                    documents.push(document);
                }
                let mut document = base.clone();
                document.as_object_mut().expect("an object").remove(name);
                documents.push(document);
            }
            for document in documents {
                let is_valid = validator.is_valid(&document);
                let is_taken = Engine::parse(entry.info.name, &document, &schema).is_ok();
                assert!(is_valid || !is_taken, "{}: {document}", entry.info.name);
                let is_read = (entry.read)(&document).is_ok();
                assert!(is_read || !is_valid, "{}: {document}", entry.info.name);
            }
        }
    }

    #[test]
    fn defaults_in_the_json_schema_are_those_of_the_parser() {
        for entry in &ENGINES {
            let base = PARAMETERS.iter().find(|(of, _)| *of == entry.info.name);
            let base = serde_json::from_str(base.expect("parameters").1).expect("JSON");
            let (_, written) = (entry.read)(&base).expect("parameters");
            let described = (entry.parameters)();
            for (name, property) in described["properties"].as_object().expect("properties") {
                assert!(property["description"].is_string(), "{name}");
                let is_given = base.get(name).is_some();
                match property.get("default") {
                    Some(default) if !is_given => assert_eq!(&written[name], default, "{name}"),
                    _ => {}
                }
            }
        }
    }
}
