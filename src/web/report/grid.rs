//! A grid of pairs of attributes: below the diagonal before, above it after.

use serde_json::Value;

use super::bars::{open, rectangle};
use super::markup::{Page, decimal, label, shortened};
use super::{list, text};

const WIDTH: f64 = 400.0;
const NAMES: f64 = 140.0;
/// Attributes that a grid can show.
const SIDE_MAX: usize = 24;

/// The pair of one entry: both names and both figures.
struct Pair<'a> {
    names: [&'a str; 2],
    before: f64,
    after: f64,
}

/// Draws `[{"attributes": [a, b], "before", "after"}]`; nothing where there
/// are more attributes than a grid can show.
pub fn pairs(page: &mut Page, value: &Value) {
    let pairs: Vec<Pair<'_>> = list(value)
        .iter()
        .map(|pair| Pair {
            names: [text(&pair["attributes"][0]), text(&pair["attributes"][1])],
            before: pair["before"].as_f64().unwrap_or(0.0),
            after: pair["after"].as_f64().unwrap_or(0.0),
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for name in pairs.iter().flat_map(|pair| pair.names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() || names.len() > SIDE_MAX {
        return;
    }
    let side = (WIDTH - NAMES) / names.len() as f64;
    let caption = "φ² of each pair: below the diagonal before (blue), above it after (gold); full colour is 1";
    page.raw("<figure>").element("figcaption", "", caption);
    open(page, side * names.len() as f64 + 18.0, caption);
    for (at, name) in names.iter().enumerate() {
        let middle = side * (at as f64 + 0.5) + 18.0;
        let row = format!("{} · {}", shortened(name, 18), at + 1);
        label(page, (NAMES - 8.0, middle + 4.0), "end", &row);
        let column = NAMES + side * (at as f64 + 0.5);
        label(page, (column, 12.0), "middle", &(at + 1).to_string());
    }
    for pair in &pairs {
        let place = |name: &str| names.iter().position(|known| *known == name).unwrap_or(0);
        let (one, two) = (place(pair.names[0]), place(pair.names[1]));
        let (low, high) = (one.min(two), one.max(two));
        let both = format!("{} × {}", names[low], names[high]);
        square(
            page,
            [high, low],
            side,
            ("bar", pair.before),
            &format!("{both} before"),
        );
        square(
            page,
            [low, high],
            side,
            ("after", pair.after),
            &format!("{both} after"),
        );
    }
    page.raw("</svg></figure>");
}

/// One field of the grid, at `[row, column]`.
fn square(
    page: &mut Page,
    [row, column]: [usize; 2],
    side: f64,
    (class, figure): (&'static str, f64),
    words: &str,
) {
    let area = [
        NAMES + side * column as f64 + 1.0,
        18.0 + side * row as f64 + 1.0,
        side - 2.0,
        side - 2.0,
    ];
    rectangle(page, "track", area);
    page.raw("</rect><g")
        .length("opacity", figure.clamp(0.0, 1.0).sqrt());
    page.raw(">");
    rectangle(page, class, area);
    page.element("title", "", &format!("{words}: {}", decimal(figure)));
    page.raw("</rect></g>");
    if side >= 22.0 {
        let place = (area[0] + area[2] / 2.0, area[1] + area[3] / 2.0 + 4.0);
        page.raw("<g class=\"value\">");
        label(page, place, "middle", &format!("{figure:.2}"));
        page.raw("</g>");
    }
}
