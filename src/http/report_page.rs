//! A report as a page: one section a measure, histograms as pictures.
//!
//! The page is one file without scripts and without anything from elsewhere.
//! Everything that comes from a dataset (names of attributes) is escaped.

use std::fmt::Write;

use axum::http::{HeaderName, header};
use serde_json::Value;

use crate::store::ReleaseRow;
use crate::utility::{Measure, UtilityReport};

/// What a browser is told of the page: it loads and runs nothing.
pub const HEADERS: [(HeaderName, &str); 2] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}\
h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2rem 0 .2rem}p{margin:.2rem 0}.note{color:#5b6875;font-size:.9rem}\
table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #d5dce3;padding:.15rem .6rem;text-align:left;\
vertical-align:top;font-variant-numeric:tabular-nums}svg{display:block;margin:.4rem 0}rect{fill:#2f6f9f}\
text{font-size:11px;fill:#5b6875}";

/// Width and height of a picture.
const PICTURE: (f64, f64) = (560.0, 120.0);
/// Depth of figures inside figures that the page shows.
const DEPTH_MAX: u32 = 6;
/// Rows of one table of figures that the page shows.
const ROWS_MAX: usize = 200;

/// The page.
pub fn render(release: &ReleaseRow, report: &UtilityReport) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Report on {id}</title><style>{STYLE}</style>\
         <h1>What this release is good for, and what risk is left</h1>\
         <p>{id}, {state}, made by the engine <b>{engine}</b>; {records} records.</p>",
        id = release.id,
        state = release.state.as_str(),
        engine = escaped(&release.engine),
        records = report.records,
    );
    for (name, measure) in &report.measures {
        section(&mut page, name, measure);
    }
    page.push_str("</html>\n");
    page
}

fn section(page: &mut String, name: &str, measure: &Measure) {
    let _ = write!(
        page,
        "<section id=\"{}\"><h2>{}</h2><p class=\"note\">{} ({})</p>",
        escaped(name),
        escaped(&measure.title),
        escaped(&measure.definition),
        escaped(&measure.source),
    );
    figures(page, &measure.value, 0);
    page.push_str("</section>");
}

/// Figures of any shape: numbers as text, histograms as pictures, lists and
/// objects as tables.
fn figures(page: &mut String, value: &Value, depth: u32) {
    if let Some(bins) = value.get("bins").and_then(Value::as_array) {
        return picture(page, bins);
    }
    match value {
        _ if depth > DEPTH_MAX => page.push('…'),
        Value::Null => page.push('–'),
        Value::Bool(truth) => page.push_str(if *truth { "yes" } else { "no" }),
        Value::Number(number) => page.push_str(&number_text(number)),
        Value::String(text) => page.push_str(&escaped(text)),
        Value::Array(items) => {
            page.push_str("<table>");
            for item in items.iter().take(ROWS_MAX) {
                page.push_str("<tr><td>");
                figures(page, item, depth + 1);
                page.push_str("</td></tr>");
            }
            page.push_str("</table>");
        }
        Value::Object(fields) => {
            page.push_str("<table>");
            for (name, field) in fields.iter().take(ROWS_MAX) {
                let _ = write!(
                    page,
                    "<tr><th>{}</th><td>",
                    escaped(&name.replace('_', " "))
                );
                figures(page, field, depth + 1);
                page.push_str("</td></tr>");
            }
            page.push_str("</table>");
        }
    }
}

/// A histogram: one bar a bin, its figures in the bar's title.
fn picture(page: &mut String, bins: &[Value]) {
    let number = |bin: &Value, name: &str| bin[name].as_f64().unwrap_or(0.0);
    let highest = bins
        .iter()
        .map(|bin| number(bin, "count"))
        .fold(1.0, f64::max);
    let (width, height) = PICTURE;
    let step = width / bins.len().max(1) as f64;
    let _ = write!(
        page,
        "<svg role=\"img\" width=\"{width}\" height=\"{}\" viewBox=\"0 0 {width} {}\">",
        height + 16.0,
        height + 16.0,
    );
    for (at, bin) in bins.iter().enumerate() {
        let bar = number(bin, "count") / highest * height;
        let _ = write!(
            page,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{bar:.1}\"><title>{} to {}: {}</title></rect>",
            at as f64 * step,
            height - bar,
            (step - 1.0).max(0.5),
            short(number(bin, "from")),
            short(number(bin, "to")),
            number(bin, "count"),
        );
    }
    if let (Some(first), Some(last)) = (bins.first(), bins.last()) {
        let base = height + 13.0;
        let _ = write!(
            page,
            "<text x=\"0\" y=\"{base}\">{}</text><text x=\"{width}\" y=\"{base}\" text-anchor=\"end\">{}</text>",
            short(number(first, "from")),
            short(number(last, "to")),
        );
    }
    page.push_str("</svg>");
}

fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() => short(value),
        _ => number.to_string(),
    }
}

/// Four digits behind the point at most, and no zeros at their end.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: Value) -> String {
        let mut page = String::new();
        figures(&mut page, &value, 0);
        page
    }

    #[test]
    fn names_from_a_dataset_cannot_become_markup() {
        let page = shown(json!({"<script>": "\"><b>", "a": ["<i>"]}));
        assert!(page.contains("&lt;script&gt;"));
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains("<i>"));
    }

    #[test]
    fn a_histogram_becomes_one_bar_a_bin() {
        let page = shown(json!({"sizes": {"bins": [
            {"from": 5, "to": 6, "count": 3}, {"from": 6, "to": 7, "count": 1}]}}));
        assert_eq!(page.matches("<rect").count(), 2);
        assert!(page.contains("5 to 6: 3"));
    }

    #[test]
    fn figures_of_endless_depth_end() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(shown(deep).contains('…'));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.25), "0.25");
        assert_eq!(short(1234.0), "1234");
        assert_eq!(short(0.123_456), "0.1235");
    }
}
