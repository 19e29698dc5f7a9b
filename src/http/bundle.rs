//! A release as one zip, made while it is taken.
//!
//! Entries are stored as they are, since tables and pages are packed or small,
//! and their lengths follow them: nothing has to be known before it is sent.
//! Each table is made as in a download of its own, with the turns of one, and
//! only as far as the client takes it. `SHA256SUMS` is the last entry.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use vizard_anonymizer::microdata::{Sha256, to_hex};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use super::auth::Standing;
use super::download::{Download, Leave};
use super::shares::Share;
use super::state::AppState;
use crate::ids::ReleaseId;

/// Name of the last entry.
const SUMS: &str = "SHA256SUMS";
/// Largest part.
const PART_BYTES: usize = 32 << 10;
/// Parts that wait for a client.
const PARTS_WAITING: usize = 2;
/// Tables of more than this, as text, are said to be long from the beginning.
const LONG_BYTES: u64 = 1 << 31;

/// What a bundle has.
pub struct Entry {
    /// Name in the bundle.
    pub name: String,
    /// What it holds.
    pub content: Content,
}

/// What an entry holds.
pub enum Content {
    /// These bytes.
    Bytes(Bytes),
    /// A table, made on the way.
    Table(Box<Download>),
}

/// The body of a bundle, which keeps its share until it is dropped, and is
/// broken off soon after its leave is over. Nothing is made before it is asked
/// for.
pub fn bundle(
    (state, release, standing): (AppState, ReleaseId, Standing),
    entries: Vec<Entry>,
    slot: Share,
) -> Body {
    let leave = Arc::new(Leave::new(state, release, standing));
    let (sender, receiver) = mpsc::channel(PARTS_WAITING);
    let sending = async move {
        if let Err(error) = send(entries, &sender).await {
            tracing::error!(%release, %error, "a bundle was broken off");
            // Nobody may be left to hear it.
            let _ = sender.send(Err(error)).await;
        }
    };
    tokio::spawn(tracing::Instrument::in_current_span(sending));
    Body::from_stream(ReceiverStream::new(receiver).then(move |part| {
        let _until_the_end = &slot;
        let leave = Arc::clone(&leave);
        async move {
            leave.check().await?;
            part
        }
    }))
}

type Sender = mpsc::Sender<io::Result<Bytes>>;

/// Makes the entries and sends them until the client has all, or goes away.
async fn send(entries: Vec<Entry>, sender: &Sender) -> io::Result<()> {
    let mut zip = Zip::new();
    for Entry { name, content } in entries {
        match content {
            Content::Bytes(bytes) => {
                zip.begin(&name, false)?;
                for part in bytes.chunks(PART_BYTES) {
                    zip.add(part)?;
                    if !hand(zip.take(), sender).await {
                        return Ok(());
                    }
                }
            }
            Content::Table(download) => {
                zip.begin(&name, download.table.raw_bytes > LONG_BYTES)?;
                let mut parts = download.parts(None);
                while let Some(part) = parts.recv().await {
                    zip.add(&part?)?;
                    if !hand(zip.take(), sender).await {
                        return Ok(());
                    }
                }
            }
        }
        zip.end();
    }
    // Whether anybody is left is no matter any more.
    hand(zip.finish()?, sender).await;
    Ok(())
}

/// Hands bytes to the client, however long it takes; false where it went away.
async fn hand(bytes: Vec<u8>, sender: &Sender) -> bool {
    let mut bytes = Bytes::from(bytes);
    while !bytes.is_empty() {
        let part = bytes.split_to(bytes.len().min(PART_BYTES));
        if sender.send(Ok(part)).await.is_err() {
            return false;
        }
    }
    true
}

/// A zip while it is written.
struct Zip {
    writer: ZipWriter<StreamWriter<Written>>,
    written: Written,
    /// The entry that is written, and its digest so far.
    open: Option<(String, Sha256)>,
    sums: String,
}

impl Zip {
    fn new() -> Self {
        let written = Written::default();
        Self {
            writer: ZipWriter::new_stream(written.clone()),
            written,
            open: None,
            sums: String::new(),
        }
    }

    fn begin(&mut self, name: &str, is_long: bool) -> io::Result<()> {
        // No time: the same release is the same bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(is_long);
        self.writer.start_file(name, options)?;
        self.open = Some((name.to_owned(), Sha256::new()));
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some((_, digest)) = &mut self.open {
            digest.update(bytes);
        }
        self.writer.write_all(bytes)
    }

    /// Notes the digest of the entry that ends.
    fn end(&mut self) {
        if let Some((name, digest)) = self.open.take() {
            // Writing into a String does not fail.
            let _ = writeln!(self.sums, "{}  {name}", to_hex(&digest.finish()));
        }
    }

    /// What was written since it was taken last.
    fn take(&self) -> Vec<u8> {
        self.written.take()
    }

    /// The last entry and the table of contents.
    fn finish(mut self) -> io::Result<Vec<u8>> {
        let sums = std::mem::take(&mut self.sums);
        self.begin(SUMS, false)?;
        self.writer.write_all(sums.as_bytes())?;
        self.writer.finish()?;
        Ok(self.written.take())
    }
}

/// Bytes that were written and not taken yet.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
