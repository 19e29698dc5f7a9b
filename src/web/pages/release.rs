//! What the page of a release says.

use axum::http::Method;
use maud::{Markup, html};
use serde_json::Value;
use vizard_anonymizer::release::{Format, Guarantee};

use super::datasets::card;
use super::dictionary::columns;
use super::frame::{button, form_token};
use super::query;
use super::snippets::snippets;
use super::visitor::Visitor;
use super::words::{state, text, time, wording};
use crate::web::markup::{list, number, words};

/// Figures of the report that say what is lost, each with its words.
const LOSSES: [(&str, &str); 6] = [
    (
        "/measures/ncp/value/mean",
        "mean loss of a cell: 0 nothing, 1 everything",
    ),
    (
        "/measures/ncp_published/value/mean",
        "mean loss of a cell: 0 nothing, 1 everything",
    ),
    (
        "/measures/qid_ncp/value/mean",
        "mean loss of a quasi-identifier",
    ),
    ("/measures/sa_ncp/value/mean", "mean loss of an item"),
    (
        "/measures/query_error/value/relative_error/median",
        "median error of a count",
    ),
    (
        "/measures/reidentification_risk/value/prosecutor_max",
        "largest risk that a record is found to be somebody's",
    ),
];

/// The formats of a download, as the API calls them.
const FORMATS: [(Format, &str); 5] = [
    (Format::Csv, "CSV"),
    (Format::Parquet, "Parquet"),
    (Format::Ndjson, "NDJSON"),
    (Format::ArrowFile, "Arrow file"),
    (Format::Arrow, "Arrow stream"),
];

/// What a page of a release is made of.
pub struct Known {
    /// The release.
    pub release: Value,
    /// Its report.
    pub report: Value,
    /// What of its hierarchies may be read.
    pub hierarchies: Value,
    /// Its dataset, for who may see that.
    pub dataset: Value,
    /// Its first rows.
    pub first_rows: Markup,
}

/// All of it.
pub fn content(visitor: &Visitor, known: &Known) -> Markup {
    let (release, report) = (&known.release, &known.report);
    let manifest = &release["manifest"];
    html! {
        @if let Some(purpose) = wording(&known.dataset["schema"]["purpose"]) { p.lead { (purpose) } }
        p { (state(text(release, "state"))) " " span.note {
            "made " (time(&release["created_at"])) " by the engine " code { (text(release, "engine")) }
            @if release["published_at"].is_string() { " · published " (time(&release["published_at"])) }
            @if release["withdrawn_at"].is_string() { " · withdrawn " (time(&release["withdrawn_at"])) }
        } }
        @if let Some(contact) = wording(&known.dataset["schema"]["contact"]) { p.note { "Questions: " (contact) } }
        div.questions {
            section {
                h2 { "Who is protected against what" }
                (protected(manifest))
            }
            section {
                h2 { "What is lost" }
                (lost(manifest, report))
            }
            section {
                h2 { "What may I do with it" }
                (uses(visitor, release))
            }
        }
        (decision(visitor, release))
        section {
            h2 { "What the columns are" }
            (columns(release, &known.hierarchies, &known.dataset["schema"]))
        }
        @if text(release, "state") != "withdrawn" {
            (known.first_rows)
            (snippets(release))
        }
        p.note { code { (text(release, "id")) } " · dataset " code { (text(release, "dataset")) } ", version " (number(&release["version"])) }
    }
}

/// What guarantees say, in sentences.
pub fn promised(guarantees: &Value) -> Vec<String> {
    let guarantees = list(guarantees).iter();
    let said = guarantees.filter_map(|guarantee| {
        let guarantee: Guarantee = serde_json::from_value(guarantee.clone()).ok()?;
        Some(guarantee.sentence())
    });
    said.collect()
}

fn protected(manifest: &Value) -> Markup {
    let said = promised(&manifest["guarantees"]);
    let open = list(&manifest["not_protected"]);
    html! {
        ul.checks { @for sentence in said { li { (sentence) } } }
        p { strong { "Against somebody who " } (text(manifest, "adversary")) "." }
        @if !open.is_empty() {
            details {
                summary { "What is not protected (" (open.len()) ")" }
                ul { @for sentence in open { li { (sentence.as_str().unwrap_or_default()) } } }
            }
        }
    }
}

fn lost(manifest: &Value, report: &Value) -> Markup {
    let mut figures: Vec<(String, &str)> = Vec::new();
    for (place, what) in LOSSES {
        let figure = report.pointer(place).and_then(Value::as_f64);
        // Of two measures of one kind the first is shown.
        if let (Some(figure), false) = (figure, figures.iter().any(|(_, shown)| *shown == what)) {
            figures.push((format!("{figure:.3}"), what));
        }
    }
    html! {
        div.cards {
            (card(&number(&manifest["records"]), "records published"))
            @if manifest["excluded"].is_number() {
                (card(&number(&manifest["excluded"]), "left out for their own terms"))
            }
            @if manifest["suppressed"].as_u64().unwrap_or_default() > 0 {
                (card(&number(&manifest["suppressed"]), "left out, as missing values want it"))
            }
            @for (figure, what) in figures { (card(&figure, what)) }
        }
    }
}

fn uses(visitor: &Visitor, release: &Value) -> Markup {
    let release_id = text(release, "id");
    let tables = list(&release["manifest"]["tables"]);
    html! {
        @if text(release, "state") == "withdrawn" {
            p { "It was withdrawn: nothing can be downloaded. Do not use copies any more." }
        } @else {
            ul.rows { @for table in tables { li {
                strong { (text(table, "name")) }
                span.note { (number(&table["rows"])) " rows" }
                @for (format, title) in FORMATS {
                    @let format = format!("{format:?}").to_lowercase();
                    a href={ "/releases/" (release_id) "/tables/" (text(table, "name")) "?format=" (format) } { (title) }
                }
            } } }
            p { a href={ "/releases/" (release_id) "/bundle.zip" } { "All of it as one zip" } ": tables, hierarchies, what the columns are, and how to read it" }
            p { "Count, compare and model with it. Cells that are ranges or groups stand for every value in them: a mean of midpoints is biased. Do not try to find out whose a record is." }
            p { (query::way(visitor, release)) }
            @if visitor.may(&Method::GET, "/v1/releases/{id}/report") {
                p { a.button href={ "/releases/" (release_id) "/report" } { "The whole report, with pictures" } }
            }
        }
    }
}

/// Publishing and withdrawing, for stewards.
fn decision(visitor: &Visitor, release: &Value) -> Markup {
    let place = format!("/releases/{}", text(release, "id"));
    let may = |verb: &str| visitor.may(&Method::POST, &format!("/v1/releases/{{id}}/{verb}"));
    html! {
        @match text(release, "state") {
            "draft" if may("publish") => (publishing(visitor, release)),
            "draft" | "published" if may("withdraw") => {
                section.decision {
                    h2 { "Take it back?" }
                    p { "Nobody can download it any more. Copies that were downloaded stay where they are." }
                    (button(visitor, &format!("{place}/withdraw"), "Withdraw", "plain bad"))
                }
            },
            _ => {},
        }
    }
}

/// What a steward reads before publishing. Where two are needed, what the first one
/// said; a reason is asked for only once it is known of which releases.
fn publishing(visitor: &Visitor, release: &Value) -> Markup {
    let approval = &release["approval"];
    let reason = text(&approval["acknowledged"], "reason");
    html! {
        section.decision {
            h2 { @if approval.is_null() { "Publish it?" } @else { "Publish it as the second steward?" } }
            @if !approval.is_null() {
                p { strong { "It waits for another steward. " } "The first one approved it " (time(&approval["approved_at"])) ". Two are needed for these grounds:" }
                ul { @for ground in list(&approval["grounds"]) { li { (said(ground)) } } }
            }
            ol {
                li { "Read what is not protected, and the report." }
                li { "Is everything in it that the readers need, and nothing more?" }
                li { "People's terms are read again while it is published: it stays a draft where they do not allow it any more." }
            }
            form method="post" action={ "/releases/" (text(release, "id")) "/publish" } {
                (form_token(visitor))
                @if !reason.is_empty() {
                    p { "The first steward's reason to publish it beside other releases of the same people: " q { (reason) } " The ledger shows it." }
                    input type="hidden" name="reason" value=(reason);
                }
                button type="submit" { "Publish" }
            }
        }
    }
}

/// A ground as it stands in the API: a word, or an object with figures.
fn said(ground: &Value) -> String {
    match ground.as_str() {
        Some(word) => words(word),
        None => ground.to_string(),
    }
}

/// What is asked where public releases show the same people: why it is published
/// beside them, once it is told what they tell together.
pub fn beside_others(visitor: &Visitor, release: &str, detail: &str) -> Markup {
    html! {
        p { (detail) }
        p { "Somebody who has both may learn more than each of them tells. " a href={ "/releases/" (release) "/report" } { "The report" } " and " code { "GET /v1/releases/{id}/verification" } " say what. Withdraw it, order a release of a series, or give the reason why it is published all the same; another steward has to agree." }
        form method="post" action={ "/releases/" (release) "/publish" } {
            (form_token(visitor))
            label for="reason" { "Reason (the ledger shows it)" }
            textarea #reason name="reason" required maxlength="500" rows="3" {}
            p { button type="submit" { "Publish with this reason" } }
        }
        p { a href={ "/releases/" (release) } { "Back to the draft" } }
    }
}
