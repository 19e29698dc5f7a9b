//! Pictures made of bars: histograms upright, figures per attribute lying.

use serde_json::Value;

use super::list;
use super::markup::{Page, decimal, label, line, number, shortened};

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 130.0;
/// Room around the bars of a histogram.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;
/// Texts under a histogram at most.
const TICKS_MAX: usize = 7;

struct Bar {
    from: f64,
    to: f64,
    count: f64,
}

/// Whether a value is `{"bins": [{"from", "to", "count"}]}`.
pub fn is_histogram(value: &Value) -> bool {
    value["bins"].is_array()
}

/// A histogram with its caption. Empty bars at its ends are left out.
pub fn histogram(page: &mut Page, caption: &str, value: &Value) {
    let bars: Vec<Bar> = list(&value["bins"])
        .iter()
        .map(|bin| Bar {
            from: bin["from"].as_f64().unwrap_or(0.0),
            to: bin["to"].as_f64().unwrap_or(0.0),
            count: bin["count"].as_f64().unwrap_or(0.0).max(0.0),
        })
        .collect();
    let first = bars.iter().position(|bar| bar.count > 0.0);
    let last = bars.iter().rposition(|bar| bar.count > 0.0);
    page.raw("<figure>").element("figcaption", "", caption);
    match (first, last) {
        (Some(first), Some(last)) => upright(page, caption, &bars[first..=last]),
        _ => {
            page.element("p", "note", "nothing to show");
        }
    }
    page.raw("</figure>");
}

fn upright(page: &mut Page, caption: &str, bars: &[Bar]) {
    let most = bars.iter().map(|bar| bar.count).fold(0.0, f64::max);
    let step = (WIDTH - LEFT - RIGHT) / bars.len() as f64;
    let width = (step * 0.86).min(40.0);
    let floor = HEIGHT - BOTTOM;
    open(page, HEIGHT, caption);
    for share in [0.5, 1.0] {
        let y = floor - (floor - TOP) * share;
        line(page, LEFT, y, WIDTH - RIGHT);
        label(page, (LEFT - 6.0, y + 4.0), "end", &decimal(most * share));
    }
    let every = bars.len().div_ceil(TICKS_MAX);
    for (at, bar) in bars.iter().enumerate() {
        let middle = LEFT + step * (at as f64 + 0.5);
        let height = (floor - TOP) * bar.count / most;
        // A bar that is there can be seen.
        let height = if bar.count > 0.0 {
            height.max(1.0)
        } else {
            0.0
        };
        rectangle(
            page,
            "bar",
            [middle - width / 2.0, floor - height, width, height],
        );
        let span = span(bar);
        page.element("title", "", &format!("{span}: {}", decimal(bar.count)));
        page.raw("</rect>");
        if at % every == 0 {
            label(page, (middle, HEIGHT - 6.0), "middle", &decimal(bar.from));
        }
    }
    line(page, LEFT, floor, WIDTH - RIGHT);
    page.raw("</svg>");
}

fn span(bar: &Bar) -> String {
    if bar.from == bar.to {
        decimal(bar.from)
    } else {
        format!("{}–{}", decimal(bar.from), decimal(bar.to))
    }
}

/// Lying bars, one per name; the longest of the figures, or 1 where all are
/// at most 1, is the full width.
pub fn lying(page: &mut Page, caption: &str, figures: &[(&str, f64)]) {
    const ROW: f64 = 20.0;
    const NAMES: f64 = 130.0;
    const VALUES: f64 = 60.0;
    let most = figures
        .iter()
        .map(|(_, figure)| *figure)
        .fold(1.0, f64::max);
    let full = WIDTH - NAMES - VALUES;
    page.raw("<figure>").element("figcaption", "", caption);
    open(page, ROW * figures.len() as f64 + 4.0, caption);
    for (at, (name, figure)) in figures.iter().enumerate() {
        let y = ROW * at as f64 + 3.0;
        label(page, (NAMES - 8.0, y + 12.0), "end", &shortened(name, 20));
        rectangle(page, "track", [NAMES, y, full, ROW - 6.0]);
        page.raw("</rect>");
        let width = full * (figure / most).clamp(0.0, 1.0);
        rectangle(page, "bar", [NAMES, y, width, ROW - 6.0]);
        page.element("title", "", &format!("{name}: {}", decimal(*figure)));
        page.raw("</rect>");
        let value = number(&Value::from(*figure));
        label(page, (NAMES + full + 8.0, y + 12.0), "start", &value);
    }
    page.raw("</svg></figure>");
}

/// Opens a picture of [`WIDTH`] and this height, with words for who cannot see it.
pub fn open(page: &mut Page, height: f64, words: &str) {
    page.raw("<svg role=\"img\"").attribute("aria-label", words);
    page.attribute("viewBox", &format!("0 0 {WIDTH} {height:.0}"))
        .raw(">");
}

/// Opens a rectangle `[x, y, width, height]`.
pub fn rectangle(page: &mut Page, class: &'static str, area: [f64; 4]) {
    page.raw("<rect").attribute("class", class);
    for (name, value) in ["x", "y", "width", "height"].into_iter().zip(area) {
        page.length(name, value);
    }
    page.raw(">");
}
