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

mod advice;
mod bars;
mod grid;
mod measure;
mod sentences;
mod summary;

use serde_json::Value;

use super::exploration::made_by;
use super::markup;
use markup::{Page, list, number, words};

/// The page for a report, the verification beside it, the manifest (with the
/// exploration that made the release as `explored`, for who may see that), and what
/// the dataset is called (`name`, `purpose`): a manifest may have ids alone.
pub fn report_page(
    report: &Value,
    verification: &Value,
    manifest: &Value,
    dataset: &Value,
) -> String {
    let name = match text(&dataset["name"]) {
        "" => text(&manifest["input"]["dataset"]),
        name => name,
    };
    let title = match name {
        "" => "Release report".to_owned(),
        name => format!("Release of {name}"),
    };
    let mut page = Page::titled(&title);
    let documents = (report, verification, manifest);
    summary::header(&mut page, (&title, text(&dataset["purpose"])), documents);
    sentences::affected(&mut page, &manifest["affected"]);
    promises(&mut page, verification, manifest);
    sentences::transformed(&mut page, list(&manifest["transformed"]));
    exact(&mut page, manifest);
    made_by(&mut page, &manifest["explored"]);
    measures(&mut page, report);
    checks(&mut page, verification);
    tables(&mut page, manifest);
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
    if verified.is_empty() {
        page.raw("<div class=\"wide\"><table><thead><tr><th>Promise</th><th>Attribute</th><th>Strength</th></tr></thead><tbody>");
        for guarantee in claimed {
            page.raw("<tr>")
                .element("td", "", &words(text(&guarantee["kind"])));
            page.element("td", "", text(&guarantee["attribute"]));
            page.element("td", "", &strength(guarantee)).raw("</tr>");
        }
        page.raw("</tbody></table></div>");
    } else {
        check_table(page, verified, false)
    }
    for (label, value) in [("Against an adversary who", text(&manifest["adversary"]))] {
        if !value.is_empty() {
            page.raw("<p>").element("strong", "", label).raw(" ");
            page.text(value).raw(".</p>");
        }
    }
    sentences::known_to_within(page, verification, manifest);
    let open: Vec<&str> = list(&manifest["not_protected"]).iter().map(text).collect();
    if !open.is_empty() {
        page.element("h3", "", "Not protected").raw("<ul>");
        for sentence in open {
            page.element("li", "", sentence);
        }
        page.raw("</ul>");
    }
    page.raw("</section>");
}

/// Attributes that stand as they are, and how far they tell people apart.
fn exact(page: &mut Page, manifest: &Value) {
    let published = &manifest["published_exactly"];
    let attributes = list(&published["attributes"]);
    if attributes.is_empty() {
        return;
    }
    page.raw("<section>").element("h2", "", "Published exactly");
    page.element("p", "note", EXACT_NOTE);
    page.raw("<div class=\"wide\"><table><thead><tr><th>Attribute</th><th>Role</th><th class=\"n\">Different values</th>");
    page.raw("<th class=\"n\">Records alone with theirs</th></tr></thead><tbody>");
    for attribute in attributes {
        page.raw("<tr>")
            .element("td", "", text(&attribute["attribute"]));
        page.element("td", "", &words(text(&attribute["role"])));
        page.element("td", "n", &number(&attribute["distinct"]));
        page.element("td", "n", &percent(&attribute["unique_share"]))
            .raw("</tr>");
    }
    page.raw("</tbody></table></div>");
    for (name, said) in [
        ("unique_share", "all of them, but sensitive ones, together"),
        (
            "unique_share_with_quasi_identifiers",
            "the same, with the published quasi-identifiers",
        ),
    ] {
        if published[name].is_number() {
            page.raw("<p>").text("Records alone with ").text(said);
            page.text(": ")
                .element("strong", "", &percent(&published[name]));
            page.text(".").raw("</p>");
        }
    }
    page.raw("</section>");
}

const EXACT_NOTE: &str = "These values stand in the tables as they are. Someone who knows one of them of a \
     person looks for it; the risk above counts all but sensitive ones. To lower it: give the \
     attribute another role.";

/// A share as a percentage.
fn percent(share: &Value) -> String {
    match share.as_f64() {
        Some(share) => format!("{} %", markup::decimal(share * 100.0)),
        None => "–".into(),
    }
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
            if part == "attacks" {
                page.element("p", "note", ATTACKS_NOTE);
            }
            check_table(page, entries, part == "attacks");
            page.raw("</section>");
        }
    }
}

const ATTACKS_NOTE: &str = "What an adversary attains on these tables. An attack without a bound is \
     not a failure and not a success: nothing promised it, so look at the figure.";

/// What an entry says: `holds`, `does_not_hold` or `no_bound`; entries of older
/// versions say no more than whether they hold.
fn state(entry: &Value, is_attack: bool) -> Option<&str> {
    let holds = entry["holds"].as_bool();
    entry["state"].as_str().or(match holds? {
        false => Some("does_not_hold"),
        true if is_attack && entry["claimed"].is_null() => Some("no_bound"),
        true => Some("holds"),
    })
}

fn check_table(page: &mut Page, entries: &[Value], is_attack: bool) {
    page.raw("<div class=\"wide\"><table><thead><tr><th>Check</th><th>Attribute</th><th class=\"n\">Claimed</th>");
    page.raw("<th class=\"n\">Attained</th><th>Result</th></tr></thead><tbody>");
    let mut before = "";
    for entry in by_kind(entries) {
        let kind = text(&entry["kind"]);
        page.raw("<tr><td>").text(&words(kind));
        // Said once of several attributes.
        let (advice, note) = match is_attack {
            true if kind == before => ("", ""),
            true => (advice::on_attack(kind), text(&entry["note"])),
            false => ("", text(&entry["note"])),
        };
        before = kind;
        for note in [advice, note, text(&entry["scope"])] {
            if !note.is_empty() {
                page.element("div", "note", note);
            }
        }
        let figures = entry["figures"].as_object().into_iter().flatten();
        let figures: Vec<String> = figures
            .map(|(name, figure)| format!("{}: {}", words(name), number(figure)))
            .collect();
        if is_attack && !figures.is_empty() {
            page.element("div", "note", &figures.join(" · "));
        }
        page.raw("</td>")
            .element("td", "", text(&entry["attribute"]));
        page.element("td", "n", &number(&entry["claimed"]));
        page.element("td", "n", &number(&entry["attained"]));
        match state(entry, is_attack) {
            Some("holds") => page.element("td", "yes", "✓ holds"),
            Some("does_not_hold") => page.element("td", "no", "✗ does not hold"),
            Some(_) => page.element("td", "look", "! no bound: look here"),
            None => page.element("td", "", ""),
        };
        page.raw("</tr>");
    }
    page.raw("</tbody></table></div>");
}

/// Entries of one kind behind each other, kinds in the order of their first.
fn by_kind(entries: &[Value]) -> Vec<&Value> {
    let mut sorted: Vec<&Value> = entries.iter().collect();
    let first = |entry: &&Value| {
        let mut all = entries.iter();
        all.position(|other| other["kind"] == entry["kind"])
    };
    sorted.sort_by_key(first);
    sorted
}

fn tables(page: &mut Page, manifest: &Value) {
    let tables = list(&manifest["tables"]);
    if tables.is_empty() {
        return;
    }
    page.raw("<section>").element("h2", "", "Published tables");
    page.raw("<div class=\"wide\"><table><thead><tr><th>Table</th><th class=\"n\">Rows</th><th>Columns</th><th>SHA-256</th></tr></thead><tbody>");
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
    page.raw("</tbody></table></div></section>");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
