//! Figures that readers ask about, said in sentences.

use serde_json::Value;

use super::markup::{Page, decimal};
use super::{list, text};

/// Sentences of one measure at most: the worst come first.
const SENTENCES_MAX: usize = 8;

/// φ² below which two attributes have nothing to do with each other.
const RELATED_MIN: f64 = 0.01;

/// What a measure says in words, above its figures.
pub fn of_measure(page: &mut Page, name: &str, value: &Value) {
    let said = match name {
        "correlation" => correlation(value),
        "group_means" => group_means(value),
        "bucket_range" => pairing(value),
        "journalist_risk" => compared_by(value),
        _ => Vec::new(),
    };
    sentences(page, &said);
}

/// By which attributes a population table was compared, and how many it does not hold.
fn compared_by(value: &Value) -> Vec<String> {
    let names: Vec<&str> = list(&value["attributes"]).iter().map(text).collect();
    let (Some(people), false) = (value["people"].as_u64(), names.is_empty()) else {
        return Vec::new();
    };
    let mut said = vec![format!(
        "Compared by {} with a population table of {people} people.",
        names.join(", ")
    )];
    if let Some(lacking @ 1..) = value["not_covered"].as_u64() {
        said.push(format!(
            "The table has fewer people than the release has records where {lacking} of the \
             records stand: it does not hold everybody."
        ));
    }
    said
}

/// That terms changed since the release was published, and what to do; nothing
/// for those who are not told of it.
pub fn affected(page: &mut Page, affected: &Value) {
    if !affected.is_object() {
        return;
    }
    let who = match affected["subjects"].as_u64() {
        Some(subjects) => format!("Up to {subjects} people in it have"),
        None => "People who may be in it (its lineage is gone) have".to_owned(),
    };
    let said = format!(
        "{who} since excluded themselves or asked for more than it gives. Withdraw it, or run its \
         job again, publish that release and withdraw this one. Copies that were downloaded stay \
         where they are."
    );
    page.raw("<section>");
    page.element("h2", "", "Terms changed after it was published");
    page.element("p", "no", &said);
    page.raw("</section>");
}

/// What was changed of values before the engine saw them.
pub fn transformed(page: &mut Page, transformed: &[Value]) {
    if transformed.is_empty() {
        return;
    }
    let said = transformed.iter().flat_map(|one| {
        let (attribute, transform) = (text(&one["attribute"]), &one["transform"]);
        let mut said = Vec::new();
        if let Some(index) = transform["days_since"].as_str() {
            said.push(format!("{attribute}: dates are days since {index}."));
        }
        if let Some(days) = transform["shift_days"].as_u64() {
            said.push(format!(
                "{attribute}: dates are moved by up to {days} days, all dates of a person by the \
                 same."
            ));
        }
        for (bound, words) in [("bottom", "smaller"), ("top", "larger")] {
            if let Some(number) = transform[bound].as_number() {
                said.push(format!(
                    "{attribute}: {words} numbers are shown as {number}."
                ));
            }
        }
        said
    });
    let said: Vec<String> = said.collect();
    page.raw("<section>");
    page.element("h2", "", "Changed beforehand").raw("<ul>");
    for sentence in &said {
        page.element("li", "", sentence);
    }
    page.raw("</ul></section>");
}

/// How nearly numbers are known of anyone who is known to be in a bucket or group.
pub fn known_to_within(page: &mut Page, verification: &Value, manifest: &Value) {
    let attacks = list(&verification["attacks"]).iter();
    let said = attacks.filter_map(|entry| {
        let figure = |name: &str| entry["figures"][name].as_f64();
        let least = figure("known_to_within")?;
        let attribute = text(&entry["attribute"]);
        let unit = if is_date(manifest, attribute) {
            " days"
        } else {
            ""
        };
        let median = match figure("known_to_within_median") {
            Some(median) => format!(", and within {}{unit} in the middle one", decimal(median)),
            None => String::new(),
        };
        Some(format!(
            "{attribute}: who knows a person's bucket or group knows the value to within {}{unit} \
             where values lie nearest{median}.",
            decimal(least)
        ))
    });
    let said: Vec<String> = said.collect();
    if !said.is_empty() {
        page.element("h3", "", "How nearly numbers are known");
        sentences(page, &said);
    }
}

fn is_date(manifest: &Value, attribute: &str) -> bool {
    let tables = list(&manifest["tables"]).iter();
    let mut columns = tables.flat_map(|table| list(&table["columns"]));
    columns.any(|column| {
        let name = column["attribute"]
            .as_str()
            .unwrap_or(text(&column["name"]));
        // A table of buckets has the types of all its attributes in one column.
        name == attribute && column["type"] == "date" || column["types"][attribute] == "date"
    })
}

fn sentences(page: &mut Page, said: &[String]) {
    if said.is_empty() {
        return;
    }
    page.raw("<ul>");
    for sentence in said {
        page.element("li", "", sentence);
    }
    page.raw("</ul>");
}

/// Pairs that lost most of what they had to do with each other.
fn correlation(value: &Value) -> Vec<String> {
    let pairs = list(&value["pairs"]).iter().filter_map(|pair| {
        let (before, after) = (pair["before"].as_f64()?, pair["after"].as_f64()?);
        (before >= RELATED_MIN).then_some((pair, before, after))
    });
    let mut pairs: Vec<(&Value, f64, f64)> = pairs.collect();
    pairs.sort_by(|one, other| (other.1 - other.2).abs().total_cmp(&(one.1 - one.2).abs()));
    let said = pairs.into_iter().take(SENTENCES_MAX);
    said.map(|(pair, before, after)| {
        let [one, other] = [0, 1].map(|at| text(&pair["attributes"][at]));
        let (before_said, after_said) = (decimal(before), decimal(after));
        format!(
            "{one} and {other}: {} (φ² {before_said} in the original, {after_said} in the release).",
            kept_in_words(after / before)
        )
    })
    .collect()
}

fn kept_in_words(kept: f64) -> &'static str {
    match kept {
        kept if kept > 1.1 => "they seem more related than they are",
        kept if kept >= 0.9 => "their relation is kept",
        kept if kept >= 0.5 => "their relation is weaker",
        kept if kept >= 0.1 => "most of their relation is lost",
        _ => "their relation is lost",
    }
}

/// The pairs of each sensitive attribute whose means are furthest off.
fn group_means(value: &Value) -> Vec<String> {
    let attributes = value["attributes"].as_object().into_iter().flatten();
    let pairs = attributes.flat_map(|(_, pairs)| list(pairs));
    let pairs = pairs.filter_map(|pair| Some((pair["error"].as_f64()?, pair)));
    let mut pairs: Vec<(f64, &Value)> = pairs.collect();
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    let more = pairs.len().saturating_sub(SENTENCES_MAX);
    let worst = pairs.iter().take(SENTENCES_MAX);
    let mut said: Vec<String> = worst
        .map(|&(error, pair)| {
            let (of, by) = (text(&pair["of"]), text(&pair["by"]));
            let error = decimal(error);
            let kept = pair["kept"].as_f64().map(differences_in_words);
            let kept = kept.unwrap_or_default();
            format!("Mean of {of} by {by}: off by {error} standard deviations of {of}{kept}.")
        })
        .collect();
    if more > 0 {
        said.push(format!(
            "{more} more pairs are off by less; the report as JSON has them."
        ));
    }
    said
}

/// How the differences between groups come out, where 1 is as they are.
fn differences_in_words(kept: f64) -> String {
    let percent = (kept * 100.0).round();
    match kept {
        kept if kept < 0.0 => "; differences between groups point the other way".into(),
        kept if kept > 1.1 => "; differences between groups are shown larger than they are".into(),
        _ => format!("; differences between groups are shown at {percent} % of their size"),
    }
}

/// Chance of nothing means that there is nothing to compare with.
fn pairing(value: &Value) -> Vec<String> {
    let attributes = value["attributes"].as_object().into_iter().flatten();
    attributes
        .filter_map(|(name, figures)| {
            let pairing = &figures["pairing"];
            let chance = pairing["chance"].as_f64().filter(|chance| *chance > 0.0)?;
            let (share, chance) = (pairing["share"].as_f64()? * 100.0, chance * 100.0);
            let (share, chance) = (share.round(), decimal(chance));
            Some(format!(
                "{name}: of the two values that share buckets most, one is in {share} % of the \
                 buckets of the other; it is in {chance} % of all buckets."
            ))
        })
        .collect()
}
