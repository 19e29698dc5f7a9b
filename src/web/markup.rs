//! HTML written piece by piece, with every text escaped.
//!
//! [`Page::raw`] takes only text of the program itself (`&'static str`), so a
//! text of a document cannot become markup.

use serde_json::Value;

/// The style that all pages have inside them.
const STYLE: &str = include_str!("style.css");

/// A page that is being written.
pub struct Page(String);

impl Page {
    /// Markup of the program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text from a document.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Nothing below a space but the blanks may stand in HTML.
                control if control.is_control() && !control.is_whitespace() => {
                    self.0.push('\u{fffd}');
                }
                // They would show what stands behind them in another order.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => self.0.push('\u{fffd}'),
                other => self.0.push(other),
            }
        }
        self
    }

    /// An element with a class (or none) that holds one text.
    pub fn element(&mut self, name: &'static str, class: &'static str, text: &str) -> &mut Self {
        self.raw("<").raw(name);
        if !class.is_empty() {
            self.raw(" class=\"").raw(class).raw("\"");
        }
        self.raw(">").text(text).raw("</").raw(name).raw(">")
    }

    /// An attribute of the element that is open, blank before it.
    pub fn attribute(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// The same with a length; two decimals, as pictures need.
    pub fn length(&mut self, name: &'static str, value: f64) -> &mut Self {
        let value = if value.is_finite() { value } else { 0.0 };
        self.attribute(name, &format!("{value:.2}"))
    }

    /// A page with a title for the window and the style, up to where its content
    /// begins.
    pub fn titled(title: &str) -> Self {
        let mut page = Self(String::with_capacity(64 * 1024));
        page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        page.raw("<meta name=\"color-scheme\" content=\"light dark\">");
        page.element("title", "", title);
        page.raw("<style>").raw(STYLE);
        page.raw("</style></head><body><main>");
        page
    }

    /// A part of a page that somebody else opens and closes.
    pub fn part() -> Self {
        Self(String::new())
    }

    /// The part as text.
    pub fn finish_part(self) -> String {
        self.0
    }

    /// The page as text, closed.
    pub fn finish(mut self) -> String {
        self.raw("</main></body></html>\n");
        self.0
    }
}

/// The elements of a list; none of anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text at a place.
pub fn label(page: &mut Page, (x, y): (f64, f64), anchor: &'static str, text: &str) {
    page.raw("<text").length("x", x).length("y", y);
    page.attribute("text-anchor", anchor)
        .raw(">")
        .text(text)
        .raw("</text>");
}

/// A level line across a picture.
pub fn line(page: &mut Page, from: f64, y: f64, to: f64) {
    page.raw("<line class=\"axis\"")
        .length("x1", from)
        .length("y1", y);
    page.length("x2", to).length("y2", y).raw("/>");
}

/// A name of a figure as words: `mean_range` is `mean range`.
pub fn words(name: &str) -> String {
    match name {
        "c_dm" => "C_DM".into(),
        _ => name.replace('_', " "),
    }
}

/// A figure as people read it: whole numbers in groups of three, others with
/// four significant digits; a dash for none.
pub fn number(value: &Value) -> String {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => grouped(whole),
            (None, Some(figure)) => decimal(figure),
            (None, None) => number.to_string(),
        },
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        _ => String::new(),
    }
}

/// A number with four significant digits.
pub fn decimal(figure: f64) -> String {
    if figure == 0.0 {
        return "0".into();
    }
    let size = figure.abs();
    if !(1e-4..1e15).contains(&size) {
        return format!("{figure:.2e}");
    }
    if size >= 1_000.0 {
        let sign = if figure < 0.0 { "−" } else { "" };
        return format!("{sign}{}", grouped(size.round() as u64));
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{figure:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn grouped(whole: u64) -> String {
    let digits = whole.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A text cut to `most` characters, with an ellipsis where some are missing.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
