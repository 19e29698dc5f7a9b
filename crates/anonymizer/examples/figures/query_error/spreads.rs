//! What a least spread costs: releases of an attribute with the default and
//! without, engine by engine.

use std::path::Path;

use serde_json::{Value, json};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::query::error::measure;

use super::{run_job, workload};
use crate::Failure;
use crate::load::records_as;

/// Prints a table: nearest values and the error of queries. Salaries are the
/// one sensitive attribute.
pub fn print(folder: &Path, spec: &Value, records: usize) -> Result<(), Failure> {
    let mut schema = spec["schema"].clone();
    for attribute in schema["attributes"].as_array_mut().into_iter().flatten() {
        if attribute["role"] == "semi_sensitive" {
            attribute["role"] = json!("quasi_identifier");
        }
    }
    let table = records_as(folder, schema, records)?;
    let quasi: Vec<&str> = names_of_quasi(&table);
    let columns = json!([quasi, ["salary"]]);
    let by_attribute = json!({"k": 5, "l": 5, "attributes": {"salary": {"min_spread": 0}}});
    let jobs = [
        ("lgb", json!({"k": 5, "l": 5}), by_attribute.clone()),
        ("mondrian", json!({"k": 5, "l": 5}), by_attribute),
        ("anatomy", json!({"l": 5}), Value::Null),
        ("aip", json!({"l": 5}), Value::Null),
        ("arp", json!({"l": 5}), Value::Null),
        (
            "arp",
            json!({"l": 5, "publish": "generalization"}),
            Value::Null,
        ),
        ("arp", json!({"l": 5, "publish": "slicing"}), Value::Null),
        ("slicing", json!({"l": 5, "columns": columns}), Value::Null),
    ];
    println!("| engine | median error | without a spread | mean error | without |");
    println!("|---|---|---|---|---|");
    for (engine, default, without) in jobs {
        let without = match without {
            Value::Null => {
                let mut without = default.clone();
                without["min_spread"] = json!({"salary": 0});
                without
            }
            without => without,
        };
        let mut told = Vec::new();
        for parameters in [&default, &without] {
            let release = run_job(&table, &[], (engine, parameters))?;
            let (tables, lineage) = (&release.tables, &release.lineage);
            let error = measure(&table, tables, lineage, workload()?)?;
            told.push(serde_json::to_value(error)?["relative_error"].clone());
        }
        let figure = |at: usize, name: &str| told[at][name].as_f64().unwrap_or(f64::NAN);
        println!(
            "| {engine} {} | {:.4} | {:.4} | {:.4} | {:.4} |",
            default["publish"].as_str().unwrap_or_default(),
            figure(0, "median"),
            figure(1, "median"),
            figure(0, "mean"),
            figure(1, "mean"),
        );
    }
    Ok(())
}

fn names_of_quasi(table: &Table) -> Vec<&str> {
    let schema = table.schema();
    let quasi = schema
        .select(|attribute| attribute.role == vizard_anonymizer::microdata::Role::QuasiIdentifier);
    let names = quasi
        .into_iter()
        .map(|at| schema.attribute(at).name.as_str());
    names.collect()
}
