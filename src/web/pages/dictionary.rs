//! The data dictionary of a release: what its columns mean, how they are
//! published, and by which hierarchy.
//!
//! Titles and descriptions are those of the manifest's columns, else of the
//! dataset's schema for who may see that; without any the name has to do.

use maud::{Markup, html};
use serde_json::Value;

use super::api::segment;
use super::frame::table;
use super::words::{text, wording};
use crate::web::markup::{list, words};

/// Each table of a release with its columns.
pub fn columns(release: &Value, hierarchies: &Value, schema: &Value) -> Markup {
    let release_id = text(release, "id");
    let attributes = list(&schema["attributes"]);
    html! {
        @for table_shown in list(&release["manifest"]["tables"]) {
            h3 { (text(table_shown, "name")) }
            (table(text(table_shown, "name"), html! { table.dictionary {
                thead { tr {
                    th scope="col" { "Column" }
                    th scope="col" { "Type" }
                    th scope="col" { "What a cell is" }
                } }
                @let columns = list(&table_shown["columns"]);
                tbody { @for column in columns {
                    @let name = text(column, "name");
                    @let attribute = attributes.iter().find(|one| text(one, "name") == name);
                    tr {
                        th scope="row" { (name) (meaning(column, attribute.unwrap_or(&Value::Null))) }
                        td { (words(text(column, "type"))) }
                        td { (cell(column, columns)) " " (hierarchy(release_id, column, hierarchies)) }
                    }
                } }
            } }))
        }
    }
}

fn meaning(column: &Value, attribute: &Value) -> Markup {
    let said = |name: &str| wording(&column[name]).or(wording(&attribute[name]));
    html! {
        @if let Some(title) = said("title") { div { (title) } }
        @if let Some(description) = said("description") { div.note { (description) } }
    }
}

fn hierarchy(release: &str, column: &Value, hierarchies: &Value) -> Markup {
    let name = text(column, "name");
    let is_shown = matches!(text(column, "content"), "generalized" | "exact");
    let mut published = list(&hierarchies["published"]).iter();
    let published = published.find(|one| is_shown && text(one, "attribute") == name);
    let is_withheld = list(&hierarchies["withheld"]).iter().any(|one| one == name);
    html! {
        @if let Some(one) = published {
            a href={ "/releases/" (release) "/hierarchies/" (segment(name)) } { "The hierarchy: " (one["leaves"]) " leaves, " (one["levels"]) " levels" }
        } @else if is_withheld && is_shown { "The hierarchy is not published." }
    }
}

/// What a cell of a column holds, in a sentence or two.
fn cell(column: &Value, columns: &[Value]) -> Markup {
    let name = text(column, "name");
    let is_there = |beside: String| columns.iter().any(|one| text(one, "name") == beside);
    let said = match (text(column, "content"), text(column, "type")) {
        ("generalized", "categorical") => "A value, a set like {a|b}, or a node of the hierarchy.",
        ("generalized", "date") => "A day, or a range like 2026-03-01..2026-03-31.",
        ("generalized", _) => "A number, or a range like 30..39.",
        ("group", _) => "The number of the group: its rows look alike.",
        ("exact", _) => "The value as it was.",
        ("block", _) => "The number of the block: its rows share the values of their buckets.",
        ("bucket", _) => "The number of the bucket that holds the value among others.",
        ("fingerprint", _) => "The number of the set of values that the person has.",
        ("column", _) => "Values of the attributes of one column, which belong together.",
        ("counterfeits", _) => "How many values of the bucket stand for nobody.",
        ("attribute", _) => "The attribute that the bucket is of.",
        ("value", _) => "A value of the bucket.",
        ("count", _) => "How often the value is in the bucket.",
        (other, _) => other,
    };
    html! {
        (said)
        @if is_there(format!("{name}_bucket")) { " Empty: the value is in the bucket." }
        @if column["masked"] == true { " A * shows nothing." }
    }
}
