//! A table on its way to a client, made while it is taken.
//!
//! A table is stored in pieces of canonical CSV, packed by zstd. While the
//! frames of one piece are unpacked, turned into the form wanted, packed as the
//! client likes and cut to the range asked for, on a thread that may block, the
//! next piece is fetched. Few small parts wait for the client; until it has taken
//! them, nothing further is made, nothing else stays in memory, and no thread
//! waits for it.
//! Canonical CSV that is wanted as zstd is sent as it is stored. An error in
//! the middle breaks the connection off: a shorter table must not look like a
//! whole one.

mod leave;
mod maker;
mod parts;
mod pieces;
mod slots;

pub use leave::Leave;
pub use slots::Downloads;

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use vizard_anonymizer::release::{Format, TableDescription};

use super::auth::Standing;
use super::coding::ContentCoding;
use super::range::{BodyCut, Part};
use super::shares::Share;
use super::state::AppState;
use crate::store::ReleaseTableRow;

/// What a download of a columnar format counts: it holds the row group that it
/// is at, packed.
const COLUMNAR_WEIGHT: u64 = 8;

/// The form in which a table is sent.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The format.
    pub format: Format,
    /// Whether cells of CSV that a spreadsheet would run are made harmless.
    pub spreadsheet_safe: bool,
    /// How it is packed.
    pub coding: ContentCoding,
}

impl Form {
    /// Whether unpacked it is the text that is stored.
    pub fn is_canonical(self) -> bool {
        self.format == Format::Csv && !self.spreadsheet_safe
    }

    /// What it counts among the downloads there may be.
    pub fn weight(self) -> u64 {
        match self.format {
            Format::Csv | Format::Ndjson => 1,
            Format::Parquet | Format::Arrow | Format::ArrowFile => COLUMNAR_WEIGHT,
        }
    }

    /// Whether it is what is stored, packed as it is.
    fn is_as_stored(self) -> bool {
        self.is_canonical() && self.coding == ContentCoding::Zstd
    }
}

/// How long a body is.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// So many bytes.
    Whole(u64),
    /// So many bytes, and perhaps more: nobody needed to know.
    AtLeast(u64),
}

/// A table to be sent.
#[derive(Clone)]
pub struct Download {
    /// Where it is stored.
    pub state: AppState,
    /// What is stored.
    pub table: ReleaseTableRow,
    /// Its columns.
    pub description: TableDescription,
    /// How it is wanted.
    pub form: Form,
    /// What the access of who wants it rests on.
    pub standing: Standing,
}

impl Download {
    /// Bytes of the body, which for most forms has to be made to know: of all
    /// of it, or as far as to the byte `wanted`.
    pub async fn length(&self, wanted: Option<u64>) -> io::Result<Length> {
        if self.form.is_canonical() && self.form.coding == ContentCoding::Identity {
            return Ok(Length::Whole(self.table.raw_bytes));
        }
        let mut parts = self.clone().parts(None);
        let mut length = 0;
        while let Some(bytes) = parts.recv().await {
            length += bytes?.len() as u64;
            if wanted.is_some_and(|wanted| wanted < length) {
                return Ok(Length::AtLeast(length));
            }
        }
        Ok(Length::Whole(length))
    }

    /// The body, or a part of it, which keeps its share until it is dropped. The
    /// first bytes are made at once, before anybody asks for them; of a body
    /// that is dropped no more is made.
    /// Broken off soon after its leave is over.
    pub fn body(self, part: Option<Part>, slot: Share) -> Body {
        let leave = Leave::new(self.state.clone(), self.table.release, self.standing);
        let leave = Arc::new(leave);
        let parts = ReceiverStream::new(self.parts(part));
        Body::from_stream(parts.then(move |part| {
            let _until_the_end = &slot;
            let leave = Arc::clone(&leave);
            async move {
                leave.check().await?;
                part
            }
        }))
    }

    /// The body in parts, made as far as they are received.
    pub fn parts(self, part: Option<Part>) -> mpsc::Receiver<io::Result<Bytes>> {
        let (sender, receiver) = mpsc::channel(parts::PARTS_WAITING);
        let span = tracing::Span::current();
        let sending = async move {
            let release = self.table.release;
            let window = BodyCut::new(part);
            if let Err(error) = parts::send(self, window, sender.clone()).await {
                tracing::error!(%release, %error, "a download was broken off");
                // Nobody may be left to hear it.
                let _ = sender.send(Err(error)).await;
            }
        };
        tokio::spawn(tracing::Instrument::instrument(sending, span));
        receiver
    }
}
