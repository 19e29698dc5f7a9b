//! The report of a release as a page with pictures.
//!
//! A pure function from three JSON documents (report, verification, manifest)
//! to one HTML file that needs nothing else: style and pictures are inside it,
//! no script, no outside address. It reads well in light and dark and on
//! paper. What is in a report decides what is drawn, not a list of measures
//! kept here: a histogram becomes bars, figures per attribute become bars or a
//! table, pairs of attributes become a grid. A measure that a later engine
//! adds is drawn without a change to this page.
//!
//! Any of the documents may be `null` or lack parts: what is there is shown.

mod bars;
mod grid;
mod markup;
mod measure;
mod summary;

use serde_json::Value;

use markup::{Page, number, words};

const STYLE: &str = include_str!("report/style.css");

/// The page for a report, the verification beside it, and the manifest.
pub fn report_page(report: &Value, verification: &Value, manifest: &Value) -> String {
    let mut page = Page::new();
    let title = match text(&manifest["engine"]) {
        "" => "Release report".to_owned(),
        engine => format!("Release report · {engine}"),
    };
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    page.element("title", "", &title);
    page.raw("<style>")
        .raw(STYLE)
        .raw("</style></head><body><main>");
    summary::header(&mut page, &title, report, verification, manifest);
    promises(&mut page, verification, manifest);
    measures(&mut page, report);
    checks(&mut page, verification);
    tables(&mut page, manifest);
    page.raw("</main></body></html>\n");
    page.finish()
}

/// What is claimed, with what the verifier found; the claims alone where
/// there is no verification.
fn promises(page: &mut Page, verification: &Value, manifest: &Value) {
    let verified = list(&verification["guarantees"]);
    let claimed = list(&manifest["guarantees"]);
    if verified.is_empty() && claimed.is_empty() {
        return;
    }
    page.raw("<section>")
        .element("h2", "", "What the release promises");
    match verified.is_empty() {
        false => check_table(page, verified),
        true => {
            page.raw("<table><thead><tr><th>Promise</th><th>Attribute</th><th>Strength</th></tr></thead><tbody>");
            for guarantee in claimed {
                page.raw("<tr>")
                    .element("td", "", &words(text(&guarantee["kind"])));
                page.element("td", "", text(&guarantee["attribute"]));
                page.element("td", "", &strength(guarantee)).raw("</tr>");
            }
            page.raw("</tbody></table>");
        }
    }
    for (label, value) in [("Against an adversary who", text(&manifest["adversary"]))] {
        if !value.is_empty() {
            page.raw("<p>").element("strong", "", label).raw(" ");
            page.text(value).raw(".</p>");
        }
    }
    let open: Vec<&str> = list(&manifest["not_protected"]).iter().map(text).collect();
    if !open.is_empty() {
        page.raw("<p>")
            .element("strong", "", "Not protected:")
            .raw(" ");
        page.text(&open.join("; ")).raw(".</p>");
    }
    page.raw("</section>");
}

/// The figures of a claim, whatever they are called.
fn strength(guarantee: &Value) -> String {
    let fields = guarantee.as_object().into_iter().flatten();
    let figures = fields.filter(|(_, value)| value.is_number());
    let figures: Vec<String> = figures
        .map(|(name, value)| format!("{} = {}", words(name), number(value)))
        .collect();
    figures.join(", ")
}

fn measures(page: &mut Page, report: &Value) {
    let Some(measures) = report["measures"].as_object() else {
        return;
    };
    for (audience, heading, note) in [
        (
            "analyst",
            "What the release is good for, and its risk",
            "Computed from the release alone.",
        ),
        (
            "steward",
            "Compared with the original",
            "For stewards: computed with the original table or with preferences.",
        ),
    ] {
        let shown: Vec<_> = measures
            .iter()
            .filter(|(_, measure)| measure["audience"] == audience)
            .collect();
        if shown.is_empty() {
            continue;
        }
        page.raw("<section>").element("h2", "", heading);
        page.element("p", "note", note);
        for (name, measure) in shown {
            measure::article(page, name, measure);
        }
        page.raw("</section>");
    }
}

fn checks(page: &mut Page, verification: &Value) {
    for (part, heading) in [
        ("structure", "What every release must be"),
        ("attacks", "Attacks that were tried"),
    ] {
        let entries = list(&verification[part]);
        if !entries.is_empty() {
            page.raw("<section>").element("h2", "", heading);
            check_table(page, entries);
            page.raw("</section>");
        }
    }
}

fn check_table(page: &mut Page, entries: &[Value]) {
    page.raw("<table><thead><tr><th>Check</th><th>Attribute</th><th class=\"n\">Claimed</th>");
    page.raw("<th class=\"n\">Attained</th><th>Holds</th></tr></thead><tbody>");
    for entry in entries {
        page.raw("<tr><td>").text(&words(text(&entry["kind"])));
        for note in [&entry["note"], &entry["scope"]] {
            if !text(note).is_empty() {
                page.element("div", "note", text(note));
            }
        }
        page.raw("</td>")
            .element("td", "", text(&entry["attribute"]));
        page.element("td", "n", &number(&entry["claimed"]));
        page.element("td", "n", &number(&entry["attained"]));
        match entry["holds"].as_bool() {
            Some(true) => page.element("td", "yes", "✓ yes"),
            Some(false) => page.element("td", "no", "✗ no"),
            None => page.element("td", "", ""),
        };
        page.raw("</tr>");
    }
    page.raw("</tbody></table>");
}

fn tables(page: &mut Page, manifest: &Value) {
    let tables = list(&manifest["tables"]);
    if tables.is_empty() {
        return;
    }
    page.raw("<section>").element("h2", "", "Published tables");
    page.raw("<table><thead><tr><th>Table</th><th class=\"n\">Rows</th><th>Columns</th><th>SHA-256</th></tr></thead><tbody>");
    for table in tables {
        let columns: Vec<&str> = list(&table["columns"])
            .iter()
            .map(|column| text(&column["name"]))
            .collect();
        page.raw("<tr>").element("td", "", text(&table["name"]));
        page.element("td", "n", &number(&table["rows"]));
        page.element("td", "", &columns.join(", "));
        page.element("td", "digest", text(&table["sha256"]))
            .raw("</tr>");
    }
    page.raw("</tbody></table></section>");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
