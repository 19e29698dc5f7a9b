//! JSON Schemas of the engines' parameters, from their types.
//!
//! Descriptions are the types' own docstrings, bounds and defaults those that
//! the parser keeps. A choice is written as a list of names, for programs that
//! make clients from it; what each name means stands in its description.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// JSON Schema (2020-12) of the parameters `P`, with nothing to look up
/// elsewhere.
pub fn schema_of<P: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<P>();
    schema.remove("title");
    schema.remove("description");
    plain(&mut schema);
    schema.to_value()
}

fn plain(schema: &mut Schema) {
    if let Some(members) = schema.as_object_mut() {
        let may_be_null = take_null(members);
        name_choices(members);
        // Widths of Rust's numbers; the bounds say the same.
        members.remove("format");
        if may_be_null {
            add_null(members);
        }
    }
    transform_subschemas(&mut plain, schema);
}

/// Whether this is a schema or null; it becomes the schema, whose description
/// gives way to that of the place where it stands.
fn take_null(members: &mut Map<String, Value>) -> bool {
    let any = members.get("anyOf").and_then(Value::as_array);
    let Some([Value::Object(inner), null]) = any.map(Vec::as_slice) else {
        return false;
    };
    if null["type"] != "null" {
        return false;
    }
    let inner = inner.clone();
    members.remove("anyOf");
    for (name, value) in inner {
        members.entry(name).or_insert(value);
    }
    true
}

fn add_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(names)) = members.get_mut("enum") {
        names.push(Value::Null);
    }
    if let Some(of_type) = members.get_mut("type") {
        *of_type = json!([of_type, "null"]);
    }
}

/// Constants to choose from become a list of names; the description tells what
/// each means.
fn name_choices(members: &mut Map<String, Value>) {
    let told = members.get("description").and_then(Value::as_str);
    let mut told = told.map(one_line).unwrap_or_default();
    if let Some((names, meanings)) = choice(members.get("oneOf")) {
        members.remove("oneOf");
        members.insert("type".into(), json!("string"));
        members.insert("enum".into(), json!(names));
        told = format!("{told} {meanings}");
    }
    if !told.is_empty() {
        members.insert("description".into(), json!(told.trim()));
    }
}

/// A docstring as one line, without the mark of what no paper has, which is
/// for readers of the code.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(" (*ours*)", "")
}

/// Names of a choice among constants, and in words what each means.
fn choice(variants: Option<&Value>) -> Option<(Vec<String>, String)> {
    let variants = variants?.as_array()?;
    let name = |variant: &Value| variant["const"].as_str().map(String::from);
    let names: Vec<String> = variants.iter().map(name).collect::<Option<_>>()?;
    let meaning = |(variant, name): (&Value, &String)| {
        let meaning = one_line(variant["description"].as_str()?);
        Some(format!("{name}: {meaning}"))
    };
    let meanings = variants.iter().zip(&names).filter_map(meaning);
    let meanings: Vec<String> = meanings.collect();
    Some((names, meanings.join(" ")))
}
