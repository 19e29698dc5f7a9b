//! The first rows of each table of a release.
//!
//! Read as a stream that is left after the first kilobytes: a table of millions
//! of rows costs what a small one does. It is a reading like a download, with its
//! row in the audit log.

use axum::body::Body;
use axum::http::{Request, Response};
use http_body_util::BodyExt;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure, segment};
use super::frame::table;
use super::visitor::Visitor;
use super::words::text;
use crate::web::markup::{list, shortened};

/// Rows of a table.
const ROWS: usize = 20;
/// Bytes of a table that are read.
const BYTES_READ_MAX: usize = 48 << 10;
/// Characters of a cell, and of all cells of a page.
const CELL_CHARACTERS: usize = 40;
const CHARACTERS_MAX: usize = 16_000;

/// The section, of a release that may be downloaded.
pub async fn first_rows((api, visitor): (&Api, &Visitor), release: &Value) -> Markup {
    let tables = list(&release["manifest"]["tables"]);
    let mut room = CHARACTERS_MAX;
    let mut shown = Vec::new();
    for found in tables {
        let name = text(found, "name");
        let path = format!(
            "/v1/releases/{}/tables/{}?format=csv",
            text(release, "id"),
            segment(name)
        );
        let rows = match read(api, visitor, &path).await {
            Ok(read) => drawn(name, &read, &mut room),
            Err(failure) => html! { p.note { (failure.detail) } },
        };
        shown.push(html! { h3 { (name) } (rows) });
    }
    html! {
        section {
            h2 { "The first rows" }
            p.note { "As they stand in the CSV. Rows are in no order that says anything." }
            @for one in shown { (one) }
        }
    }
}

/// The beginning of a table, and whether that is all of it.
struct Beginning {
    text: Vec<u8>,
    is_whole: bool,
}

async fn read(api: &Api, visitor: &Visitor, path: &str) -> Result<Beginning, Failure> {
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|_| Failure::not_found())?;
    let response = api.send(visitor, request).await;
    if response.status().is_success() {
        Ok(beginning(response).await)
    } else {
        Err(Failure::of_response(response).await)
    }
}

async fn beginning(response: Response<Body>) -> Beginning {
    let mut body = response.into_body();
    let mut text = Vec::new();
    while text.len() < BYTES_READ_MAX {
        match body.frame().await {
            Some(Ok(frame)) => text.extend(frame.into_data().unwrap_or_default()),
            // Broken off: what has come is a beginning.
            Some(Err(_)) => break,
            None => {
                return Beginning {
                    text,
                    is_whole: true,
                };
            }
        }
    }
    Beginning {
        text,
        is_whole: false,
    }
}

/// The rows of a beginning; a last one that may be cut is left out.
fn rows(beginning: &Beginning) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(beginning.text.as_slice());
    let records = reader.byte_records().map_while(Result::ok);
    let cells = |record: csv::ByteRecord| {
        let cells = record.iter();
        let cells = cells.map(|cell| String::from_utf8_lossy(cell).into_owned());
        cells.collect()
    };
    // One more than is shown, behind the header.
    let mut rows: Vec<Vec<String>> = records.take(ROWS + 2).map(cells).collect();
    if rows.len() < ROWS + 2 && !beginning.is_whole {
        rows.pop();
    }
    rows.truncate(ROWS + 1);
    rows
}

fn drawn(name: &str, beginning: &Beginning, room: &mut usize) -> Markup {
    let rows = rows(beginning);
    let Some((header, rows)) = rows.split_first() else {
        return html! { p.empty { "It has no rows." } };
    };
    let taken = |row: &&Vec<String>| {
        let cells = row.iter();
        let size: usize = cells.map(|cell| cell.len().min(CELL_CHARACTERS) + 9).sum();
        let fits = size <= *room;
        *room = room.saturating_sub(size);
        fits
    };
    let shown: Vec<_> = rows.iter().take_while(taken).collect();
    html! {
        (table(&format!("First rows of {name}"), html! { table.data {
            thead { tr { @for column in header { th scope="col" { (column) } } } }
            tbody { @for row in shown { tr { @for cell in row { td { (shortened(cell, CELL_CHARACTERS)) } } } } }
        } }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(text: &str, is_whole: bool) -> Beginning {
        Beginning {
            text: text.into(),
            is_whole,
        }
    }

    #[test]
    fn a_row_that_may_be_cut_is_not_shown() {
        let text = "a,b\n1,\"x\ny\"\n2,<b>\n3,zz";
        assert_eq!(rows(&beginning(text, true)).len(), 4);
        let cut = rows(&beginning(text, false));
        assert_eq!(cut, [["a", "b"], ["1", "x\ny"], ["2", "<b>"]]);
        let long: String = (0..50).map(|row| format!("{row},\n")).collect();
        assert_eq!(rows(&beginning(&long, false)).len(), ROWS + 1);
    }

    #[test]
    fn cells_are_text_and_the_page_stays_small() {
        let long = "<i>".repeat(30);
        let text = format!("a\n{long}\n{long}\n");
        let mut room = CELL_CHARACTERS + 20;
        let page = drawn("t", &beginning(&text, true), &mut room).into_string();
        assert_eq!(
            page.matches("<tr><td>").count(),
            1,
            "the second has no room"
        );
        assert!(!page.contains("<i>") && page.contains("&lt;i&gt;"));
    }
}
