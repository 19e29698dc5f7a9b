//! Jobs of each engine, described for openapi.yaml.
//!
//! A job's parameters depend on its engine. The JSON Schemas of the parameters
//! are those of `GET /v1/engines`: here they become components. What a handler
//! says of any job, with the engine's name and parameters in place, is the job
//! of an engine, and a job is one of them. Nothing is written a second time.

use serde_json::{Value, json};
use utoipa::openapi::{Components, RefOr, Schema};

use vizard_anonymizer::catalog;

/// Name of the component that a job is posted as.
pub const JOB: &str = "Job";

/// Name of the component that a handler describes: a job of any engine.
pub const ANY_JOB: &str = "JobSpec";

/// Adds the parameters and the job of every engine, and the choice of them, in
/// the place of the job of any engine.
pub fn add_jobs(components: &mut Components) {
    let any = components.schemas.remove(ANY_JOB);
    // It was made from the code and is written down: this cannot fail.
    let any = serde_json::to_value(any).unwrap_or_default();
    let (mut choices, mut mapping) = (Vec::new(), serde_json::Map::new());
    for engine in catalog::descriptions().as_array().into_iter().flatten() {
        let name = engine["name"].as_str().unwrap_or_default();
        let (of_job, of_parameters) = (component(name, JOB), component(name, "Parameters"));
        let parameters = described(&engine["parameters"], engine);
        let place = format!("#/components/schemas/{of_parameters}");
        add(components, &of_job, job(&any, engine, &place));
        add(components, &of_parameters, parameters);
        let place = format!("#/components/schemas/{of_job}");
        choices.push(json!({"$ref": place}));
        mapping.insert(name.into(), place.into());
    }
    let choice = json!({
        "oneOf": choices,
        "discriminator": {"propertyName": "engine", "mapping": mapping},
        "description": "A job as it is posted; its parameters are those of its engine.",
    });
    add(components, JOB, choice);
}

/// `one_to_many` and `Parameters` make `OneToManyParameters`.
fn component(engine: &str, of: &str) -> String {
    let words = engine.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    });
    words.collect::<String>() + of
}

/// The parameters without a title: generators would name them by it.
fn described(parameters: &Value, engine: &Value) -> Value {
    let mut described = parameters.clone();
    let (name, title) = (text(engine, "name"), text(engine, "title"));
    described["description"] = format!("Parameters of `{name}`. {title}.").into();
    described
}

fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document[name].as_str().unwrap_or_default()
}

/// The job of any engine as one of this engine, whose parameters are at `place`.
fn job(any: &Value, engine: &Value, place: &str) -> Value {
    let name = text(engine, "name");
    let mut job = any.clone();
    job["description"] = format!("A job of `{name}`.").into();
    job["properties"]["engine"] = json!({
        "type": "string", "enum": [name], "description": "Name of the engine.",
    });
    job["properties"]["parameters"] = json!({"$ref": place});
    // Where the engine needs a parameter, a job without any is refused.
    let needed = engine["parameters"]["required"].as_array();
    if let (Some(_), Some(required)) = (needed, job["required"].as_array_mut()) {
        required.push("parameters".into());
    }
    job
}

fn add(components: &mut Components, name: &str, schema: Value) {
    // The tests read every component back and compare it with the engine's.
    if let Ok(schema) = serde_json::from_value::<RefOr<Schema>>(schema) {
        components.schemas.insert(name.into(), schema);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components() -> Value {
        let document = crate::http::openapi::document();
        let document = serde_json::to_value(document).expect("a document");
        document["components"]["schemas"].clone()
    }

    /// Numbers by value: 1 and 1.0 are one.
    fn same(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| same(one, other))
            }
            (Value::Object(one), Value::Object(other)) => {
                let is_there =
                    |(name, value)| other.get(name).is_some_and(|other| same(value, other));
                one.len() == other.len() && one.iter().all(is_there)
            }
            _ => one == other,
        }
    }

    #[test]
    fn the_parameters_of_every_engine_are_those_that_the_list_of_engines_says() {
        let components = components();
        let engines = catalog::descriptions();
        for engine in engines.as_array().expect("a list") {
            let name = component(text(engine, "name"), "Parameters");
            let expected = described(&engine["parameters"], engine);
            let found = &components[&name];
            assert!(same(found, &expected), "{name}: {found}\n{expected}");
        }
    }

    #[test]
    fn a_job_is_one_of_those_of_the_engines() {
        let components = components();
        let engines = catalog::descriptions();
        let engines = engines.as_array().expect("a list");
        let job = &components[JOB];
        assert_eq!(job["oneOf"].as_array().map(Vec::len), Some(engines.len()));
        for engine in engines {
            let name = text(engine, "name");
            let place = job["discriminator"]["mapping"][name]
                .as_str()
                .expect("a place");
            let of_engine = place.rsplit('/').next().expect("a name");
            let of_engine = &components[of_engine];
            assert_eq!(of_engine["properties"]["engine"]["enum"], json!([name]));
            assert!(of_engine["properties"]["dataset"].is_object());
            assert_eq!(of_engine["additionalProperties"], json!(false));
        }
        assert_eq!(component("one_to_many", JOB), "OneToManyJob");
    }
}
