//! The answer to a query: bars with whiskers, and the table behind them.
//!
//! A bar is the estimate, a whisker goes from the lower to the upper bound. The
//! picture has the first cells and figures; the table has more; the answer as
//! JSON has all.

use maud::{Markup, html};
use serde_json::Value;

use super::super::frame::table;
use super::super::words::text;
use crate::web::markup::{list, number, shortened};

/// Cells that a picture has.
const CELLS_DRAWN: usize = 40;
/// Figures that have a picture.
const FIGURES_DRAWN: usize = 2;
/// Figures that the table has in all, and the least and most rows.
const FIGURES_SHOWN: usize = 400;
const ROWS_SHOWN: (usize, usize) = (20, 200);

/// The picture, in its own units.
const WIDTH: f64 = 480.0;
const NAMES: f64 = 150.0;
const FIGURES: f64 = 70.0;
const ROW: f64 = 24.0;
const NAME_CHARACTERS: usize = 18;

/// A figure that was asked for: where it stands in a cell, and its words.
struct Figure {
    place: String,
    words: String,
}

/// The answer.
pub fn answer(answer: &Value) -> Markup {
    let cells = list(&answer["cells"]);
    let figures = figures(cells.first());
    html! {
        @if cells.is_empty() {
            p { "No combination of these values can occur in the release." }
        } @else {
            @for figure in figures.iter().take(FIGURES_DRAWN) { (picture(figure, cells)) }
            (rows(answer, cells, &figures))
            (meaning(cells, &figures))
        }
    }
}

/// The figures that a cell has, in one order.
fn figures(cell: Option<&Value>) -> Vec<Figure> {
    let Some(cell) = cell else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    if cell["count"].is_object() {
        figures.push(Figure {
            place: "/count".into(),
            words: "records".into(),
        });
    }
    for (kind, words) in [("sum", "sum of"), ("avg", "average of")] {
        for name in cell[kind]
            .as_object()
            .into_iter()
            .flatten()
            .map(|one| one.0)
        {
            let segment = name.replace('~', "~0").replace('/', "~1");
            figures.push(Figure {
                place: format!("/{kind}/{segment}"),
                words: format!("{words} {name}"),
            });
        }
    }
    figures
}

/// Estimate and bounds of a figure in a cell.
fn ends(cell: &Value, figure: &Figure) -> [Option<f64>; 3] {
    let found = cell.pointer(&figure.place);
    ["estimate", "lower", "upper"].map(|name| found.and_then(|found| found[name].as_f64()))
}

fn name(cell: &Value) -> String {
    let values = list(&cell["values"]).iter().filter_map(Value::as_str);
    let values: Vec<_> = values.collect();
    match values.as_slice() {
        [] => "all".into(),
        values => values.join(" · "),
    }
}

fn picture(figure: &Figure, cells: &[Value]) -> Markup {
    let drawn = &cells[..cells.len().min(CELLS_DRAWN)];
    let all = drawn.iter().flat_map(|cell| ends(cell, figure)).flatten();
    let (least, most) = all.fold((0.0_f64, 0.0_f64), |(least, most), end| {
        (least.min(end), most.max(end))
    });
    let span = if most > least { most - least } else { 1.0 };
    let full = WIDTH - NAMES - FIGURES;
    let x = |value: f64| NAMES + full * (value - least) / span;
    let at = |value: f64| format!("{:.1}", x(value));
    let height = ROW * drawn.len() as f64 + 4.0;
    html! {
        figure {
            figcaption { bdi { (capitalized(&figure.words)) } ": bars are estimates, lines go from the lower to the upper bound" @if drawn.len() < cells.len() { "; the first " (CELLS_DRAWN) " of " (cells.len()) } }
            svg.answer viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label={ (figure.words) ", estimates with bounds; the table has the figures" } {
                @for (row, cell) in drawn.iter().enumerate() {
                    @let top = ROW * row as f64 + 2.0;
                    @let name = name(cell);
                    @let [estimate, lower, upper] = ends(cell, figure);
                    text x=(NAMES - 8.0) y=(top + 15.0) text-anchor="end" { (shortened(&name, NAME_CHARACTERS)) title { (name) } }
                    rect.track x=(NAMES) y=(top + 3.0) width=(full) height="16" {}
                    @if let Some(estimate) = estimate {
                        @let (from, to) = (estimate.min(0.0), estimate.max(0.0));
                        rect.bar x=(at(from)) y=(top + 3.0) width=(format!("{:.1}", x(to) - x(from))) height="16" {}
                    }
                    @if let (Some(lower), Some(upper)) = (lower, upper) {
                        path.whisker d=(format!("M{0},{2}V{3}M{0},{4}H{1}M{1},{2}V{3}", at(lower), at(upper), top + 6.0, top + 16.0, top + 11.0)) {}
                    }
                    text.value x=(NAMES + full + 8.0) y=(top + 15.0) { (written(estimate)) }
                }
            }
        }
    }
}

fn capitalized(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn written(figure: Option<f64>) -> String {
    // A tenth of a record is as much as an estimate tells.
    let rounded = figure.map(|figure| (figure * 10.0).round() / 10.0);
    rounded.map_or_else(
        || "–".into(),
        |figure| match figure {
            whole if whole >= 0.0 && whole.fract() == 0.0 && whole < 1e15 => {
                number(&Value::from(whole as u64))
            }
            other => number(&Value::from(other)),
        },
    )
}

fn rows(answer: &Value, cells: &[Value], figures: &[Figure]) -> Markup {
    let (least, most) = ROWS_SHOWN;
    let shown = (FIGURES_SHOWN / figures.len().max(1)).clamp(least, most);
    let groups = list(&answer["group_by"]);
    html! {
        (table("The answer", html! { table {
            thead { tr {
                @if groups.is_empty() { th scope="col" { "Of" } }
                @for group in groups { th scope="col" { (group.as_str().unwrap_or_default()) } }
                @for figure in figures {
                    th.n scope="col" { (capitalized(&figure.words)) }
                    th.n scope="col" { "between" }
                }
                th.n scope="col" { "Rows" }
                th.n scope="col" { "Groups" }
            } }
            tbody { @for cell in cells.iter().take(shown) { tr {
                @if groups.is_empty() { th scope="row" { "all that fits" } }
                @for value in list(&cell["values"]) { th scope="row" { (value.as_str().unwrap_or_default()) } }
                @for figure in figures {
                    @let [estimate, lower, upper] = ends(cell, figure);
                    td.n { (written(estimate)) }
                    td.n.note { (written(lower)) " … " (written(upper)) }
                }
                td.n { (number(&cell["rows"])) }
                td.n { (number(&cell["groups"])) }
            } } }
        } }))
        @if cells.len() > shown { p.note { "The first " (shown) " of " (cells.len()) " combinations. The answer as JSON has all." } }
    }
}

/// What the bounds promise, of the kinds that the answer has.
fn meaning(cells: &[Value], figures: &[Figure]) -> Markup {
    let kinds = figures.iter().filter_map(|figure| {
        let found = cells.first()?.pointer(&figure.place)?;
        Some(text(found, "bounds"))
    });
    let kinds: Vec<_> = kinds.collect();
    html! {
        ul.note {
            @if kinds.contains(&"certain") { li { "Numbers of records: the true number over the published records lies between the bounds, whatever the cells hide." } }
            @if kinds.contains(&"expected") { li { "Sums and averages: bounds are the extremes for the expected number of records; the true figure may lie outside." } }
            li { "Rows: published rows that may count; groups: the groups or buckets that they are in. People who are left out of the release are in no answer." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(value: &str, count: [f64; 3]) -> Value {
        let [estimate, lower, upper] = count;
        json!({"values": [value], "rows": 9, "groups": 2, "count":
            {"estimate": estimate, "lower": lower, "upper": upper, "bounds": "certain"}})
    }

    #[test]
    fn a_bar_is_the_estimate_and_a_whisker_its_bounds() {
        let cells = vec![
            cell("F", [50.0, 20.0, 100.0]),
            cell("<M>", [25.0, 25.0, 25.0]),
        ];
        let page = answer(&json!({"group_by": ["sex"], "cells": cells})).into_string();
        // The whole is 260 wide and begins at 150: 100 records.
        assert!(
            page.contains(r#"class="bar" x="150.0" y="5" width="130.0""#),
            "{page}"
        );
        assert!(
            page.contains("M202.0,8V18M202.0,13H410.0M410.0,8V18"),
            "{page}"
        );
        assert!(page.contains("&lt;M&gt;") && !page.contains("<M>"));
    }

    #[test]
    fn the_picture_has_the_first_cells_and_the_page_stays_small() {
        let cell = |at: usize| {
            json!({"values": [format!("district {at} of a long name")], "rows": 4000, "groups": 300,
                "count": {"estimate": 1234.5, "lower": 1000, "upper": 2000, "bounds": "certain"},
                "avg": {"a/b~": {"estimate": null, "lower": null, "upper": null, "bounds": "expected"}}})
        };
        let cells: Vec<Value> = (0..1_000).map(cell).collect();
        let page = answer(&json!({"group_by": ["district"], "cells": cells})).into_string();
        assert_eq!(page.matches("class=\"track\"").count(), 2 * CELLS_DRAWN);
        assert!(page.contains("The first 200 of 1000") && page.contains("Average of a/b~"));
        assert!(page.len() < 70 << 10, "{} bytes", page.len());
    }
}
