//! The head of the page: what was published, whether it holds, and the few
//! figures that most readers come for.

use serde_json::Value;

use super::markup::{Page, number};
use super::{advice, list, state, text};

/// Figures that have a card of their own: where they are, and what to call them.
const CARDS: [(&str, &str); 17] = [
    (
        "/measures/group_sizes/value/min",
        "records in the smallest group",
    ),
    (
        "/measures/reidentification_risk/value/prosecutor_max",
        "largest re-identification risk",
    ),
    (
        "/measures/reidentification_risk/value/prosecutor_mean",
        "mean re-identification risk",
    ),
    (
        "/measures/reidentification_risk/value/prosecutor_median",
        "median re-identification risk",
    ),
    (
        "/measures/journalist_risk/value/max",
        "largest journalist's risk",
    ),
    (
        "/measures/journalist_risk/value/mean",
        "mean journalist's risk",
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
        "/measures/query_error/value/relative_error/mean",
        "mean error of a count",
    ),
    (
        "/measures/query_error/value/relative_error/median",
        "median error of a count",
    ),
];

/// Title, verdict, what was published from what, and the cards.
pub fn header(
    page: &mut Page,
    (title, purpose): (&str, &str),
    (report, verification, manifest): (&Value, &Value, &Value),
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
    if !purpose.is_empty() {
        page.element("p", "", purpose);
    }
    let mut parts = Vec::new();
    if !text(&manifest["engine"]).is_empty() {
        parts.push(format!("by the engine {}", text(&manifest["engine"])));
    }
    for (value, words) in [
        (&manifest["records"], "records published"),
        (&manifest["excluded"], "excluded"),
        (&manifest["suppressed"], "suppressed"),
    ] {
        if value.is_number() {
            parts.push(format!("{} {words}", number(value)));
        }
    }
    if manifest["input"]["version"].is_number() {
        parts.push(format!(
            "from version {}",
            number(&manifest["input"]["version"])
        ));
    }
    if !text(&manifest["made_by"]["vizard"]).is_empty() {
        parts.push(format!(
            "made by Vizard {}",
            text(&manifest["made_by"]["vizard"])
        ));
    }
    page.element("p", "note", &parts.join(" · "));
    kept(page, &manifest["kept"]);
    cards(page, report);
    let risk = report.pointer("/measures/reidentification_risk/value/prosecutor_max");
    if let Some(risk) = risk.and_then(Value::as_f64) {
        let (class, mark) = if risk > advice::CONTRACT {
            ("look", "! ")
        } else {
            ("note", "")
        };
        let said = advice::on_risk(risk);
        page.element(
            "p",
            class,
            &format!("{mark}Largest re-identification risk: {said}"),
        );
    }
    look_here(page, verification);
    page.raw("</header>");
}

/// How many attacks have no bound: their figures are further down.
fn look_here(page: &mut Page, verification: &Value) {
    let attacks = list(&verification["attacks"]).iter();
    let unbounded = attacks.filter(|entry| state(entry, true) == Some("no_bound"));
    let mut kinds: Vec<&str> = Vec::new();
    for entry in unbounded.filter(|entry| entry["attained"] != 0.0) {
        if !kinds.contains(&text(&entry["kind"])) {
            kinds.push(text(&entry["kind"]));
        }
    }
    if !kinds.is_empty() {
        let said = match kinds.len() {
            1 => "One attack has figures without a bound: look at them below.".to_owned(),
            several => {
                format!("{several} attacks have figures without a bound: look at them below.")
            }
        };
        page.element("p", "look", &format!("! {said}"));
    }
    for entry in list(&verification["attacks"]) {
        let said = match entry["kind"].as_str() {
            Some("inference") => guessed(entry),
            Some("minimality") => told(entry),
            Some("composition") => certain(entry),
            Some("difference") => differ(entry),
            _ => None,
        };
        if let Some(said) = said {
            page.element("p", "look", &said);
        }
    }
}

/// What a model guesses much better than without the release.
fn guessed(entry: &Value) -> Option<String> {
    let figures = &entry["figures"];
    let (lift, attained) = (figures["lift"].as_f64()?, entry["attained"].as_f64()?);
    (lift > LIFT_WARNED).then(|| {
        format!(
            "! {}: a model learned from this release alone guesses the value of {:.0} % of its \
             people; statistics of other people tell {:.0} %, and 1 in l allows {:.0} %.",
            text(&entry["attribute"]),
            100.0 * attained,
            100.0 * figures["population"].as_f64().unwrap_or(0.0),
            100.0 * figures["one_in_l"].as_f64().unwrap_or(0.0),
        )
    })
}

/// Of how many people running the engine again tells something.
fn told(entry: &Value) -> Option<String> {
    let figures = &entry["figures"];
    let gain = figures["largest_gain"].as_f64()?;
    (figures["told"].as_f64()? > 0.0).then(|| {
        format!(
            "! {}: of {} people it was tried for, running the engine again on tables that fit \
             makes a value of {} likelier than the counts of their group say, by {:.0} percentage \
             points at most.",
            text(&entry["attribute"]),
            number(&figures["people"]),
            number(&figures["told"]),
            100.0 * gain,
        )
    })
}

/// How many values all releases together make certain.
fn certain(entry: &Value) -> Option<String> {
    let figures = &entry["figures"];
    (figures["certain"].as_f64()? > 0.0).then(|| {
        format!(
            "! {}: together with earlier public releases this one makes the value certain of up to \
             {} of up to {} people who are in it and in one of them.",
            text(&entry["attribute"]),
            number(&figures["certain"]),
            number(&figures["shared_subjects"]),
        )
    })
}

/// How many people the difference with the latest release tells something of.
fn differ(entry: &Value) -> Option<String> {
    (entry["attained"].as_f64()? > 0.0).then(|| {
        format!(
            "! {}: the difference from the latest public release tells more than either release \
             of up to {} people who left or came; of up to {} of them the value is certain.",
            text(&entry["attribute"]),
            number(&entry["attained"]),
            number(&entry["figures"]["certain"]),
        )
    })
}

/// Lift of inference from which on the page warns.
const LIFT_WARNED: f64 = 1.5;

/// Share of counterfeits from which on the page warns.
const MANY_COUNTERFEITS: f64 = 0.05;

/// What a release of a series keeps, and what that costs.
fn kept(page: &mut Page, kept: &Value) {
    for attribute in kept["attributes"].as_array().into_iter().flatten() {
        let share = attribute["counterfeits"].as_f64().unwrap_or(0.0)
            / attribute["values"].as_f64().unwrap_or(1.0).max(1.0);
        let (class, mark) = if share > MANY_COUNTERFEITS {
            ("look", "! ")
        } else {
            ("note", "")
        };
        let mut said = format!(
            "{mark}{} keeps the sets of values that earlier releases show: {} of {} published \
             values are counterfeits ({:.1} %)",
            text(&attribute["attribute"]),
            number(&attribute["counterfeits"]),
            number(&attribute["values"]),
            100.0 * share
        );
        if attribute["outdated"].is_number() {
            said.push_str(&format!(
                ", {} rows show an old set",
                number(&attribute["outdated"])
            ));
        }
        if attribute["renewed"].is_number() {
            said.push_str(&format!(
                ", {} rows show another set because their value changed",
                number(&attribute["renewed"])
            ));
        }
        page.element("p", class, &said);
    }
    if kept["joins_groups"] == true {
        let said = "The groups are those of earlier releases of the series, joined to larger ones: \
                    who has these too knows as much as they tell";
        page.element("p", "note", said);
    }
    if kept["companions"].as_u64().is_some_and(|left| left > 0) {
        let said = format!(
            "{} subjects of earlier releases are left out: some left or changed, the others go with \
             them so that nobody can be told from those",
            number(&kept["companions"])
        );
        page.element("p", "note", &said);
    }
    if kept["waiting"].as_u64().is_some_and(|waiting| waiting > 0) {
        let said = format!(
            "{} new subjects wait for the next release",
            number(&kept["waiting"])
        );
        page.element("p", "note", &said);
    }
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
