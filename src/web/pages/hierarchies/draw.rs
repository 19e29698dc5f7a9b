//! The page of a hierarchy: what it is, the tree, the forms that correct it.

use maud::{Markup, html};
use vizard_anonymizer::microdata::{Hierarchy, NodeIndex};

use super::super::api::Failure;
use super::super::datasets::card;
use super::super::frame::form_token;
use super::super::visitor::Visitor;
use super::super::words::text;
use super::known::{Known, PUT, place};
use super::review::findings;
use super::tree::{Shown, above, way};
use crate::web::markup::number;

/// Bytes of a hierarchy that can be edited as text on a page.
const TEXT_BYTES_MAX: usize = 32 << 10;

/// What somebody asked for.
pub struct Asked<'a> {
    /// A node, by its label; empty for the whole tree.
    pub at: &'a str,
    /// What is searched for; empty for nothing.
    pub search: &'a str,
    /// Why the last correction was refused, with the text that was sent.
    pub wrong: Option<(&'a Failure, &'a str)>,
}

/// All of it.
pub fn content(visitor: &Visitor, known: &Known, asked: &Asked<'_>) -> Markup {
    let may_put = visitor.may(&axum::http::Method::PUT, PUT);
    let at = known.tree.as_ref().and_then(|tree| tree.find(asked.at));
    html! {
        @if let Some((failure, _)) = asked.wrong {
            div.wrong role="alert" { p { strong { (failure.title) } } p { (failure.detail) } }
        }
        (head(known))
        (in_use(visitor, known))
        @match &known.tree {
            Some(tree) => {
                (search(asked))
                (shown(tree, at.unwrap_or(NodeIndex::ROOT), asked))
                @if let (Some(at), true) = (at, may_put) { (corrections(visitor, known, (tree, at))) }
                @else if may_put && asked.search.is_empty() { p.note { "Choose a node or a leaf to rename it, to move it, or to add a leaf below it." } }
            },
            None => p { "It is intervals over numbers: its leaves are the values of the records." },
        }
        (findings(&known.review))
        (as_text(visitor, known, (may_put, asked.wrong.map(|(_, text)| text))))
    }
}

fn head(known: &Known) -> Markup {
    let head = &known.head;
    html! {
        div.cards {
            @if known.tree.is_some() { (card(&number(&head["leaves"]), "leaves")) }
            (card(&number(&head["height"]), "steps from a leaf to the root at most"))
            (card(&number(&head["revision"]), "revision"))
        }
        @if head["library"] == true { p.note { "It is the library's, which all datasets share. A correction here makes one of this dataset's own." } }
    }
}

/// Whether the records are read with this revision, and the way to that.
fn in_use(visitor: &Visitor, known: &Known) -> Markup {
    let pinned = &known.dataset["hierarchies"][&known.name];
    let is_other = pinned.is_string() && *pinned != known.head["digest"];
    let may = visitor.may(&axum::http::Method::PUT, "/v1/datasets/{id}/schema");
    html! {
        @if is_other {
            section.decision {
                h2 { "It is not in use yet" }
                p { "The records of version " (known.dataset["version"]) " are read with an earlier revision. Putting this one to use makes a new version with the same records; it is refused where records or people's terms need what it lacks." }
                @if may {
                    form method="post" action=(place(known)) {
                        (hidden(visitor, known))
                        button type="submit" name="do" value="use" { "Read the records with the latest hierarchies" }
                    }
                }
            }
        }
    }
}

/// What each form carries: which revision it corrects.
fn hidden(visitor: &Visitor, known: &Known) -> Markup {
    html! {
        (form_token(visitor))
        input type="hidden" name="digest" value=(text(&known.head, "digest"));
    }
}

fn search(asked: &Asked<'_>) -> Markup {
    html! {
        form.row method="get" role="search" {
            label for="q" { "Search its labels" }
            input #q name="q" type="search" value=(asked.search) maxlength="200";
            button.plain type="submit" { "Search" }
        }
    }
}

fn shown(tree: &Hierarchy, at: NodeIndex, asked: &Asked<'_>) -> Markup {
    let is_search = !asked.search.trim().is_empty();
    let part = if is_search {
        Shown::found(tree, asked.search.trim())
    } else {
        Shown::below(tree, at)
    };
    html! {
        section {
            h2 { "The tree" }
            @if is_search {
                p role="status" { (part.matches) " labels have it." @if part.matches > 100 { " The first hundred are shown." } " " a href="?" { "Show all" } }
            } @else if at != NodeIndex::ROOT {
                p.note {
                    @for node in above(tree, at) { a href=(way(&tree.node(node).label)) { (tree.node(node).label) } " › " }
                    (tree.node(at).label)
                }
            } @else if !asked.at.is_empty() {
                p.wrong { "There is no node of this name." }
            }
            @if !is_search || part.matches > 0 { (part.drawn()) }
        }
    }
}

/// Rename, move, add: of the node that is looked at.
fn corrections(visitor: &Visitor, known: &Known, (tree, at): (&Hierarchy, NodeIndex)) -> Markup {
    let node = tree.node(at);
    let is_leaf = node.children.is_empty();
    let form = |action: &str, id: &str, label: &str, button: &str| {
        html! {
            form.row method="post" action=(place(known)) {
                (hidden(visitor, known))
                input type="hidden" name="node" value=(node.label);
                label for=(id) { (label) }
                input #(id) name="to" required autocomplete="off" maxlength="1000";
                button.plain type="submit" name="do" value=(action) { (button) }
            }
        }
    };
    html! {
        section.decision {
            h2 { "Correct " q { (node.label) } }
            (form("rename", "rename", "New name", "Rename"))
            @if at != NodeIndex::ROOT { (form("move", "move", "Node that it is to stand below", "Move")) }
            @if !is_leaf { (form("add", "leaf", "Leaf to add below it", "Add")) }
            @if is_leaf { p.note { "A leaf is a value of the records: renamed, it is another value." } }
        }
    }
}

/// The text that was put, to be edited and put again.
fn as_text(visitor: &Visitor, known: &Known, (may_put, sent): (bool, Option<&str>)) -> Markup {
    let csv = known.tree.as_ref().map(|tree| tree.to_csv());
    let text = csv.as_deref().unwrap_or(&known.content);
    let sent = sent.filter(|sent| !sent.is_empty());
    let what = if csv.is_some() {
        "CSV: a line a leaf, from leaf to root, with semicolons between"
    } else {
        "JSON"
    };
    html! {
        section {
            h2 { "As text" }
            p { a href={ (place(known)) "/content" } { "Download it as it was put" } }
            @if text.len() > TEXT_BYTES_MAX { p.note { "It is too long to be edited here. Download it, and put it again by " code { "PUT /v1/datasets/{id}/hierarchies/{name}?new_version=true" } "." } }
            @else if may_put {
                details open[sent.is_some()] {
                    summary { "Edit it" }
                    form method="post" action=(place(known)) {
                        (hidden(visitor, known))
                        label for="content" { (what) }
                        textarea.text #content name="content" rows="16" spellcheck="false" { "\n" (sent.unwrap_or(text)) }
                        p { button.plain type="submit" name="do" value="text" { "Put it as a new revision" } }
                    }
                }
            }
        }
    }
}
