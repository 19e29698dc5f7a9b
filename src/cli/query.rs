//! `vizard query`: asks a release on files, as `POST /v1/releases/{id}/query`
//! asks one on a server.
//!
//! Tables, manifest and hierarchies are all that is read; what else is in the
//! folder does not matter. The manifest may be the one that a server shows to
//! analysts, or its whole answer.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::Value;
use vizard_anonymizer::microdata::{TableError, expectation, repeated_member};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{Bounds, Estimate, Hierarchies, Query, QueryAnswer, QueryIndex};
use vizard_anonymizer::release::{Guarantee, HierarchyList, TableDescription};

use super::exit::Exit;
use super::input::read;
use super::release_folder::{MANIFEST, tables};
use super::release_hierarchies::{list, read_listed};

/// Options of `vizard query`.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder of a release: its tables, `manifest.json` and its hierarchies
    #[arg(value_name = "DIR")]
    release: PathBuf,
    /// What is asked, as JSON: `{"count": true, "group_by": ["ward"]}`
    #[arg(value_name = "QUERY", required_unless_present = "file")]
    query: Option<String>,
    /// File with what is asked, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    file: Option<PathBuf>,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AnswerFormat {
    /// A line a cell, for people.
    Table,
    /// As a server answers.
    Json,
}

/// What is read of a manifest.
#[derive(Deserialize)]
struct Claims {
    tables: Vec<TableDescription>,
    guarantees: Vec<Guarantee>,
}

/// Reads, asks, prints.
pub fn run(options: &Options) -> Result<(), Exit> {
    let query = options.query()?;
    let index = index(&options.release)?;
    let answer = index.answer(&query, CancelFlag::never());
    let answer = answer.map_err(|error| Exit::NoTable("the query".into(), error.to_string()))?;
    match options.format {
        AnswerFormat::Json => println!("{}", serde_json::to_string_pretty(&answer)?),
        AnswerFormat::Table => print!("{}", told(&answer)),
    }
    Ok(())
}

impl Options {
    fn query(&self) -> Result<Query, Exit> {
        let (source, bytes) = match (&self.query, &self.file) {
            (_, Some(path)) => (path.display().to_string(), read(path)?),
            (query, None) => {
                let text = query.clone().unwrap_or_default();
                ("the query".into(), text.into_bytes())
            }
        };
        let unfit = |what: String| Exit::NoTable(source.clone(), what);
        if let Some(name) = repeated_member(&bytes) {
            return Err(unfit(format!(
                "the member `{name}` stands twice in one object"
            )));
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            unfit(format!(
                "line {line}, column {column}: {}",
                expectation(&error)
            ))
        })
    }
}

/// The release in a folder, made ready for queries.
fn index(folder: &Path) -> Result<QueryIndex<'static>, Exit> {
    let claims = claims(folder)?;
    let tables = tables(folder, &claims.tables)?;
    let (hierarchies, list) = match list(folder)? {
        Some(list) => (read_listed(folder, &list)?, list),
        None => (Hierarchies::new(), HierarchyList::unknown(&tables)),
    };
    let index = QueryIndex::of_release(&tables, &claims.guarantees, (&hierarchies, &list));
    index.map_err(|_| {
        let what = "its rows are no records, and cannot be asked";
        Exit::NoTable(folder.display().to_string(), what.into())
    })
}

fn claims(folder: &Path) -> Result<Claims, Exit> {
    let unfit = |line: usize| {
        let what = TableError::Read(format!("no manifest: line {line}"));
        Exit::Input(MANIFEST.into(), what)
    };
    let document = serde_json::from_slice(&read(&folder.join(MANIFEST))?);
    let mut document: Value = document.map_err(|error| unfit(error.line()))?;
    if document["manifest"].is_object() {
        document = document["manifest"].take();
    }
    // Its own words may repeat what is in the file.
    serde_json::from_value(document).map_err(|_| unfit(1))
}

/// The answer as lines: values, figures with their bounds, rows.
fn told(answer: &QueryAnswer) -> String {
    let mut lines = vec![header(answer)];
    for cell in &answer.cells {
        let mut line = cell.values.clone();
        let sums = cell.sum.values().chain(cell.avg.values());
        line.extend(cell.count.iter().chain(sums).map(figure));
        line.push(cell.rows.to_string());
        lines.push(line);
    }
    let columns = lines[0].len();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, &width))| {
            if at < answer.group_by.len() {
                format!("{cell:width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        let cells: Vec<String> = cells.collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str(
        "[lower, upper]: the true figure lies between them; (lower, upper): so it is expected\n",
    );
    text
}

fn header(answer: &QueryAnswer) -> Vec<String> {
    let mut header = answer.group_by.clone();
    let Some(first) = answer.cells.first() else {
        header.push("rows".into());
        return header;
    };
    header.extend(first.count.map(|_| "count".into()));
    header.extend(first.sum.keys().map(|name| format!("sum {name}")));
    header.extend(first.avg.keys().map(|name| format!("avg {name}")));
    header.push("rows".into());
    header
}

fn figure(figure: &Estimate) -> String {
    let [estimate, lower, upper] = [figure.estimate, figure.lower, figure.upper].map(number);
    match figure.bounds {
        Bounds::Certain => format!("{estimate} [{lower}, {upper}]"),
        Bounds::Expected => format!("{estimate} ({lower}, {upper})"),
    }
}

fn number(number: Option<f64>) -> String {
    let Some(number) = number else {
        return "-".into();
    };
    // Three places at most, and no zeros behind the last that says something.
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_with_their_bounds() {
        let answer = serde_json::json!({"group_by": ["ward"], "cells": [
            {"values": ["red"], "rows": 6, "groups": 1,
             "count": {"estimate": 2.5, "lower": 1.0, "upper": 4.0, "bounds": "certain"},
             "avg": {"age": {"estimate": 30.0, "lower": 20.25, "upper": null, "bounds": "expected"}}}]});
        let answer: QueryAnswer = serde_json::from_value(answer).unwrap();
        let text = told(&answer);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ward       count        avg age  rows");
        assert_eq!(lines[1], "red   2.5 [1, 4]  30 (20.25, -)     6");
    }
}
