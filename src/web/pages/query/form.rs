//! The form of a query: what to know, for each of what, and only where.
//!
//! It works without scripts: a button adds a condition or takes one away, and
//! the whole form comes back with it.

use maud::{Markup, html};

use super::super::frame::form_token;
use super::super::visitor::Visitor;
use super::asked::{Asked, Asking, CONDITIONS_MAX, Spot, Wrong};
use super::attributes::{Attribute, Choice, Kind};

/// Tests of numbers and days, each with its words.
const OF_NUMBERS: [(&str, &str); 7] = [
    ("between", "from … to …"),
    ("=", "is"),
    ("!=", "is not"),
    ("<", "is below"),
    ("<=", "is at most"),
    (">=", "is at least"),
    (">", "is above"),
];
/// Tests of categories.
const OF_CATEGORIES: [(&str, &str); 2] = [("=", "is one of"), ("!=", "is none of")];
/// Values that are offered in all conditions together.
const CHOICES_MAX: usize = 400;
/// Rows of a list of values.
const ROWS_SHOWN: usize = 8;

/// What a form is made of.
pub struct Sheet<'a> {
    /// Where it is sent to.
    pub place: &'a str,
    /// What can be asked.
    pub attributes: &'a [Attribute],
    /// What it asks.
    pub asked: &'a Asked,
    /// Values of the category of each condition, where they can be listed.
    pub choices: &'a [Option<Vec<Choice>>],
    /// What is wrong with it.
    pub wrong: Option<&'a Wrong>,
    /// Whether a condition was just taken away.
    pub has_lost_one: bool,
}

/// The form.
pub fn form(visitor: &Visitor, sheet: &Sheet<'_>) -> Markup {
    let asked = sheet.asked;
    let numbers = |attribute: &Attribute| attribute.kind.is_number();
    html! {
        form.ask method="post" action=(sheet.place) {
            (form_token(visitor))
            // What the Enter key presses: the first button of a form.
            button.default type="submit" name="do" value="ask" tabindex="-1" aria-hidden="true" { "Ask" }
            (said(sheet, Spot::Whole))
            fieldset {
                legend { "What do you want to know?" }
                label.box { input type="checkbox" name="count" checked[asked.count]; " the number of records" }
                (boxes(sheet, ("sum", "the sum of", Spot::Sums), &asked.sums, numbers))
                (boxes(sheet, ("average", "the average of", Spot::Averages), &asked.averages, numbers))
            }
            fieldset {
                legend { "Split by (nothing ticked: all records together)" }
                (boxes(sheet, ("group", "each value of", Spot::Groups), &asked.groups, |one| one.kind != Kind::Decimal))
            }
            fieldset {
                legend { "Only of records where all of this holds" }
                @if asked.conditions.is_empty() { p.empty { "No condition: of all records." } }
                (conditions(sheet))
                @if asked.conditions.len() < CONDITIONS_MAX {
                    div.row {
                        label for="add" { "Attribute of a further condition" }
                        select #add name="add" autofocus[sheet.has_lost_one] {
                            @for (at, attribute) in sheet.attributes.iter().enumerate() {
                                option value=(at) { (attribute.name) }
                            }
                        }
                        button.plain type="submit" name="do" value="add" { "Add a condition" }
                    }
                }
            }
            p { button type="submit" name="do" value="ask" { "Ask" } }
        }
    }
}

/// What is wrong at a place.
fn said(sheet: &Sheet<'_>, at: Spot) -> Markup {
    let wrong = sheet.wrong.filter(|wrong| wrong.at == at);
    html! {
        @if let Some(wrong) = wrong { p.wrong role="alert" { (wrong.said) } }
    }
}

/// A box to tick for each attribute that fits.
fn boxes(
    sheet: &Sheet<'_>,
    (name, words, spot): (&str, &str, Spot),
    ticked: &[usize],
    fits: impl Fn(&Attribute) -> bool,
) -> Markup {
    let attributes = sheet.attributes.iter().enumerate();
    let fitting: Vec<_> = attributes.filter(|(_, one)| fits(one)).collect();
    html! {
        @if !fitting.is_empty() {
            div.boxes role="group" aria-label=(words) {
                span { (words) }
                @for (at, attribute) in fitting {
                    label.box { input type="checkbox" name=(name) value=(at) checked[ticked.contains(&at)]; " " (attribute.name) }
                }
            }
        }
        (said(sheet, spot))
    }
}

fn conditions(sheet: &Sheet<'_>) -> Markup {
    let mut room = CHOICES_MAX;
    let last = sheet.asked.conditions.len();
    html! {
        @for (row, asking) in sheet.asked.conditions.iter().enumerate() {
            @let attribute = &sheet.attributes[asking.attribute];
            @let offered = sheet.choices.get(row).and_then(Option::as_ref).filter(|choices| choices.len() <= room);
            @let spent = offered.map_or(0, Vec::len);
            ({ room -= spent; html! {} })
            div.condition role="group" aria-label={ "Condition " (row + 1) } {
                input type="hidden" name="condition" value=(row);
                input type="hidden" name={ "attribute." (row) } value=(asking.attribute);
                strong { (attribute.name) }
                (test(attribute, (row, asking), row + 1 == last && asking.test.is_empty()))
                (values(attribute, (row, asking), offered.map(Vec::as_slice)))
                button.plain type="submit" name="do" value={ "remove." (row) } aria-label={ "Remove condition " (row + 1) } { "Remove" }
                (said(sheet, Spot::Condition(row)))
            }
        }
    }
}

/// How the value is compared. What was just added has the focus.
fn test(attribute: &Attribute, (row, asking): (usize, &Asking), is_new: bool) -> Markup {
    let tests: &[(&str, &str)] = match attribute.kind {
        Kind::Category => &OF_CATEGORIES,
        _ => &OF_NUMBERS,
    };
    html! {
        select name={ "test." (row) } aria-label={ "How " (attribute.name) " is compared" } autofocus[is_new] {
            @for (word, words) in tests { option value=(word) selected[asking.test == *word] { (words) } }
        }
    }
}

fn values(
    attribute: &Attribute,
    (row, asking): (usize, &Asking),
    offered: Option<&[Choice]>,
) -> Markup {
    let (name, label) = (
        format!("value.{row}"),
        format!("Values of {}", attribute.name),
    );
    let typed = |value: &str, name: &str, label: &str| {
        let kind = if attribute.kind == Kind::Date {
            "date"
        } else {
            "number"
        };
        html! { input type=(kind) step=[(kind == "number").then_some("any")] name=(name) aria-label=(label) value=(value); }
    };
    html! {
        @match (attribute.kind, offered) {
            (Kind::Category, Some(choices)) => {
                select multiple size=(choices.len().clamp(2, ROWS_SHOWN)) name=(name) aria-label=(label) {
                    @for choice in choices {
                        option class={ "d" (choice.depth.min(6)) } value=(choice.label) selected[asking.values.contains(&choice.label)] { (choice.label) }
                    }
                }
                span.note { "Ctrl (or ⌘) and a click choose several." }
            },
            (Kind::Category, None) => {
                textarea name=(name) rows="2" spellcheck="false" aria-label={ (label) ", one a line" } { (asking.values.join("\n")) }
                span.note { "One value a line, as it is published." }
            },
            _ => {
                (typed(asking.values.first().map_or("", String::as_str), &name, &format!("Value of {}", attribute.name)))
                (typed(&asking.upper, &format!("upper.{row}"), &format!("Upper end of {}, for from … to …", attribute.name)))
            },
        }
    }
}
