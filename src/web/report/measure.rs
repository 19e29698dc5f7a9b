//! One measure of a report: its meaning, its figures, its pictures.

use serde_json::{Map, Value};

use super::markup::{Page, number, words};
use super::{advice, bars, grid, sentences, text};

/// An article about the measure called `name`.
pub fn article(page: &mut Page, name: &str, measure: &Value) {
    let title = match text(&measure["title"]) {
        "" => words(name),
        title => title.to_owned(),
    };
    page.raw("<article").attribute("id", name).raw(">");
    page.element("h3", "", &title);
    page.element("p", "note", text(&measure["definition"]));
    if !advice::on_measure(name).is_empty() {
        page.element("p", "advice", advice::on_measure(name));
    }
    if !text(&measure["source"]).is_empty() {
        page.raw("<p class=\"source\">Source: ");
        page.text(text(&measure["source"])).raw("</p>");
    }
    sentences::of_measure(page, name, &measure["value"]);
    match measure["value"].as_object() {
        // All of it is said.
        Some(_) if name == "group_means" => {}
        Some(value) => figures(page, value),
        None => {
            page.element("p", "", &number(&measure["value"]));
        }
    }
    page.raw("</article>");
}

/// Single figures first, then what is drawn, then what is nested.
fn figures(page: &mut Page, value: &Map<String, Value>) {
    single(page, value);
    let pictures: Vec<(&String, &Value)> = value
        .iter()
        .filter(|(_, value)| bars::is_histogram(value))
        .collect();
    if !pictures.is_empty() {
        page.raw("<div class=\"pictures\">");
        for (name, value) in pictures {
            bars::histogram(page, &words(name), value);
        }
        page.raw("</div>");
    }
    for (name, part) in value {
        match part {
            Value::Array(_) if name == "pairs" => grid::pairs(page, part),
            Value::Object(entries) if !bars::is_histogram(part) => nested(page, name, entries),
            _ => {}
        }
    }
}

fn single(page: &mut Page, value: &Map<String, Value>) {
    let shown: Vec<_> = value
        .iter()
        .filter(|(_, value)| !value.is_object() && !value.is_array())
        .collect();
    if shown.is_empty() {
        return;
    }
    page.raw("<dl>");
    for (name, value) in shown {
        page.element("dt", "", &words(name));
        page.element("dd", "", &number(value));
    }
    page.raw("</dl>");
}

/// Figures by name: bars where each is one number, else a table of the single
/// figures with the pictures under it.
fn nested(page: &mut Page, name: &str, entries: &Map<String, Value>) {
    let numbers: Vec<(&str, f64)> = entries
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)))
        .collect();
    if numbers.len() == entries.len() && !entries.is_empty() {
        if name == "attributes" {
            bars::lying(page, "by attribute", &numbers);
        } else {
            page.element("h4", "", &words(name));
            single(page, entries);
        }
        return;
    }
    if entries.values().any(|entry| !entry.is_object()) {
        page.element("h4", "", &words(name));
        figures(page, entries);
        return;
    }
    if name != "attributes" {
        page.element("h4", "", &words(name));
    }
    table(page, entries);
    let means: Vec<(&str, f64)> = entries
        .iter()
        .filter_map(|(name, entry)| Some((name.as_str(), entry.get("mean")?.as_f64()?)))
        .collect();
    if means.len() == entries.len() && !means.is_empty() {
        bars::lying(page, "mean by attribute", &means);
    }
    page.raw("<div class=\"pictures\">");
    for (owner, entry) in entries {
        for (name, value) in entry.as_object().into_iter().flatten() {
            if bars::is_histogram(value) {
                bars::histogram(page, &format!("{owner}: {}", words(name)), value);
            }
        }
    }
    page.raw("</div>");
}

fn table(page: &mut Page, entries: &Map<String, Value>) {
    let mut columns: Vec<&String> = Vec::new();
    for entry in entries.values().filter_map(Value::as_object) {
        let single = entry.iter().filter(|(_, value)| !value.is_object());
        for (name, _) in single {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
    }
    if columns.is_empty() {
        return;
    }
    page.raw("<div class=\"wide\"><table><thead><tr><th></th>");
    for column in &columns {
        page.element("th", "n", &words(column));
    }
    page.raw("</tr></thead><tbody>");
    for (name, entry) in entries {
        page.raw("<tr>").element("td", "", name);
        for column in &columns {
            page.element("td", "n", &number(&entry[column.as_str()]));
        }
        page.raw("</tr>");
    }
    page.raw("</tbody></table></div>");
}
