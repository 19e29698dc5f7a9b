//! The head of the page: what was published, whether it holds, and the few
//! figures that most readers come for.

use serde_json::Value;

use super::markup::{Page, number};
use super::text;

/// Figures that have a card of their own: where they are, and what to call them.
const CARDS: [(&str, &str); 12] = [
    (
        "/measures/group_sizes/value/min",
        "records in the smallest group",
    ),
    (
        "/measures/reidentification_risk/value/prosecutor_max",
        "largest re-identification risk",
    ),
    ("/measures/ncp/value/mean", "mean loss of a cell (NCP)"),
    (
        "/measures/ncp_published/value/mean",
        "mean loss of a cell (NCP)",
    ),
    (
        "/measures/qid_ncp/value/mean",
        "mean loss of a quasi-identifier (QID-NCP)",
    ),
    (
        "/measures/qid_ncp_published/value/mean",
        "mean loss of a quasi-identifier (QID-NCP)",
    ),
    (
        "/measures/sa_ncp/value/mean",
        "mean loss of an item (SA-NCP)",
    ),
    (
        "/measures/fingerprints/value/min",
        "persons with the rarest fingerprint",
    ),
    (
        "/measures/value_shares/value/max",
        "largest share of one value in a group",
    ),
    ("/measures/c_dm/value/c_dm", "discernibility (C_DM)"),
    ("/measures/leakage/value/subjects/max", "largest leakage"),
    (
        "/measures/query_error/value/relative_error/median",
        "median error of a count",
    ),
];

/// Title, verdict, what was published from what, and the cards.
pub fn header(
    page: &mut Page,
    title: &str,
    report: &Value,
    verification: &Value,
    manifest: &Value,
) {
    page.raw("<header><h1>").text(title);
    let unverified = manifest["unverified"] == true;
    match verification["holds"].as_bool() {
        Some(true) => page.raw("<span class=\"badge yes\">✓ verified</span>"),
        Some(false) => page.raw("<span class=\"badge no\">✗ does not hold</span>"),
        None if unverified => page.raw("<span class=\"badge no\">not verified</span>"),
        None => page,
    };
    page.raw("</h1>");
    let mut parts = Vec::new();
    for (value, words) in [
        (&manifest["records"], "records published"),
        (&manifest["excluded"], "excluded"),
        (&manifest["suppressed"], "suppressed"),
    ] {
        if value.is_number() {
            parts.push(format!("{} {words}", number(value)));
        }
    }
    let input = &manifest["input"];
    if !text(&input["dataset"]).is_empty() {
        let version = number(&input["version"]);
        parts.push(format!(
            "from {}, version {version}",
            text(&input["dataset"])
        ));
    }
    if !text(&manifest["made_by"]["vizard"]).is_empty() {
        parts.push(format!(
            "made by Vizard {}",
            text(&manifest["made_by"]["vizard"])
        ));
    }
    page.element("p", "note", &parts.join(" · "));
    cards(page, report);
    page.raw("</header>");
}

fn cards(page: &mut Page, report: &Value) {
    let mut seen: Vec<&str> = Vec::new();
    page.raw("<div class=\"cards\">");
    for (path, words) in CARDS {
        let figure = report.pointer(path).filter(|figure| figure.is_number());
        if let (Some(figure), false) = (figure, seen.contains(&words)) {
            seen.push(words);
            page.raw("<div class=\"card\">")
                .element("b", "", &number(figure));
            page.element("span", "", words).raw("</div>");
        }
    }
    page.raw("</div>");
}
