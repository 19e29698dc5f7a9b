//! What the review of a hierarchy finds, in sentences: what of the records it
//! lacks first, then what of it is of little use.

use maud::{Markup, html};
use serde_json::Value;

use super::super::frame::table;
use super::super::words::text;
use crate::web::markup::{list, number};

/// The findings; nothing for who may not read them.
pub fn findings(review: &Value) -> Markup {
    if review.is_null() {
        return html! {};
    }
    let odd = [
        ("unbalanced", "leaves stand at another depth than most"),
        (
            "single_child",
            "nodes have one node below: they say the same as that one",
        ),
    ];
    let share = review["largest"]["share"].as_f64().unwrap_or_default();
    html! {
        section {
            h2 { "What the review finds" }
            @if review["version"].is_null() { p.note { "There are no records yet to hold it against." } }
            @for attribute in list(&review["attributes"]) { (covered(attribute)) }
            ul {
                @for (name, said) in odd {
                    @let labels = &review[name];
                    @if labels["count"].as_u64().unwrap_or_default() > 0 {
                        li { (number(&labels["count"])) " " (said) ": " bdi { (some(&labels["labels"])) } }
                    }
                }
                @if share > 0.5 {
                    li { bdi { (text(&review["largest"], "label")) } " holds " (number(&review["largest"]["leaves"])) " of the leaves, more than half: little is told by the nodes beside it." }
                }
            }
        }
    }
}

fn some(labels: &Value) -> String {
    let labels = list(labels).iter().filter_map(Value::as_str);
    labels.collect::<Vec<_>>().join(", ")
}

fn covered(attribute: &Value) -> Markup {
    let lacking = &attribute["lacking"];
    let values = list(&lacking["values"]);
    let is_whole = lacking["distinct"].as_u64() == Some(0) && attribute["obstacle"].is_null();
    html! {
        h3 { (text(attribute, "attribute")) }
        @if let Some(obstacle) = attribute["obstacle"].as_str() { p.wrong { (obstacle) } }
        @if is_whole { p { span.yes { "✓ " } "Every value of the " (number(&attribute["records"])) " records is a leaf of it." } }
        @else if lacking["distinct"].as_u64().unwrap_or_default() > 0 {
            p.wrong { "It lacks " (number(&lacking["distinct"])) " values that " (number(&lacking["records"])) " records have: it cannot be put to use." }
            @if values.is_empty() { p.note { "Each is of fewer than five people, so none is told here." } }
            @else {
                (table("Values that it lacks", html! { table {
                    thead { tr { th scope="col" { "Value" } th.n scope="col" { "Records" } } }
                    tbody { @for value in values { tr { th scope="row" { (text(value, "value")) } td.n { (number(&value["records"])) } } } }
                } }))
            }
        }
        @if attribute["unused_leaves"].as_u64().unwrap_or_default() > 0 {
            p.note { (number(&attribute["unused_leaves"])) " leaves are in no record." }
        }
    }
}
