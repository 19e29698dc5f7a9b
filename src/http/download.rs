//! A table on its way to a client, made while it is taken.
//!
//! A table is stored as zstd frames of canonical CSV, cut at rows. A download
//! holds one piece at a time: it is unpacked, turned into the form wanted,
//! packed as the client likes and cut to the range asked for, on a thread
//! that may block; the next piece is fetched when the client has taken it.
//! Canonical CSV that is wanted as zstd is sent as it is stored. An error in
//! the middle breaks the connection off: a shorter table must not look like a
//! whole one.

use std::io;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::coding::{ContentCoding, Deflater};
use super::range::{Part, Window};
use super::state::AppState;
use crate::release::{Format, TableDescription, Transcoder};
use crate::store::ReleaseTableRow;

/// Pieces that wait for a slow client.
const PIECES_WAITING: usize = 1;
/// Largest piece before compression that this program writes, with room.
const PIECE_RAW_BYTES_MAX: usize = 64 << 20;

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
}

impl Download {
    /// Bytes of the whole body, which for most forms has to be made to know.
    pub async fn length(&self) -> io::Result<u64> {
        if self.form.is_canonical() && self.form.coding == ContentCoding::Identity {
            return Ok(self.table.raw_bytes);
        }
        let mut making = Making::new(self.clone())?;
        let mut length = 0;
        while let Some(bytes) = making.next().await? {
            length += bytes.len() as u64;
        }
        Ok(length)
    }

    /// The body, or a part of it.
    pub fn body(self, part: Option<Part>) -> Body {
        let (sender, receiver) = mpsc::channel(PIECES_WAITING);
        let span = tracing::Span::current();
        let sending = async move {
            let release = self.table.release;
            if let Err(error) = send(self, Window::new(part), &sender).await {
                tracing::error!(%release, %error, "a download was broken off");
                // Nobody may be left to hear it.
                let _ = sender.send(Err(error)).await;
            }
        };
        tokio::spawn(tracing::Instrument::instrument(sending, span));
        Body::from_stream(ReceiverStream::new(receiver))
    }
}

async fn send(
    download: Download,
    mut window: Window,
    sender: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let mut making = Making::new(download)?;
    while let Some(bytes) = making.next().await? {
        let bytes = window.cut(bytes);
        // The client may have gone away.
        if !bytes.is_empty() && sender.send(Ok(bytes.into())).await.is_err() {
            return Ok(());
        }
        if window.is_past() {
            return Ok(());
        }
    }
    Ok(())
}

/// A body as it is made, piece by piece.
struct Making {
    download: Download,
    /// `None` once the last piece was made.
    maker: Option<Maker>,
    position: u32,
}

impl Making {
    fn new(download: Download) -> io::Result<Self> {
        Ok(Self {
            maker: Some(Maker::new(&download.description, download.form)?),
            download,
            position: 0,
        })
    }

    /// The next piece, which may be empty; `None` behind the last one.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(maker) = self.maker.take() else {
            return Ok(None);
        };
        let Download { state, table, .. } = &self.download;
        if self.position == table.pieces {
            return on_blocking_thread(move || maker.finish()).await.map(Some);
        }
        let name = table.name.clone();
        let stored = state.store.table_piece(table.release, name, self.position);
        let stored = stored.await.map_err(io::Error::other)?;
        let (maker, ready) = on_blocking_thread(move || maker.piece(stored)).await?;
        self.maker = Some(maker);
        self.position += 1;
        Ok(Some(ready))
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("a piece could not be made")),
    }
}

/// Turns stored pieces into the form that is wanted, one after the other.
enum Maker {
    /// Sent as it is stored: zstd frames, one behind the other.
    Stored,
    /// Unpacked and packed in another way.
    Canonical(Deflater),
    /// Turned into another format first.
    Transcoded(Box<Transcoder>, Deflater),
}

impl Maker {
    fn new(description: &TableDescription, form: Form) -> io::Result<Self> {
        if form.is_canonical() && form.coding == ContentCoding::Zstd {
            return Ok(Self::Stored);
        }
        let deflater = Deflater::new(form.coding)?;
        if form.is_canonical() {
            return Ok(Self::Canonical(deflater));
        }
        let transcoder = Transcoder::new(description, form.format).map_err(io::Error::other)?;
        Ok(Self::Transcoded(Box::new(transcoder), deflater))
    }

    fn piece(mut self, stored: Vec<u8>) -> io::Result<(Self, Vec<u8>)> {
        let unpack = |stored: &[u8]| zstd::bulk::decompress(stored, PIECE_RAW_BYTES_MAX);
        let ready = match &mut self {
            Self::Stored => stored,
            Self::Canonical(deflater) => deflater.piece(unpack(&stored)?)?,
            Self::Transcoded(transcoder, deflater) => {
                let mut out = Vec::new();
                let csv = unpack(&stored)?;
                transcoder.piece(&csv, &mut out).map_err(io::Error::other)?;
                deflater.piece(out)?
            }
        };
        Ok((self, ready))
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Stored => Ok(Vec::new()),
            Self::Canonical(deflater) => deflater.finish(),
            Self::Transcoded(transcoder, mut deflater) => {
                let mut out = Vec::new();
                transcoder.finish(&mut out).map_err(io::Error::other)?;
                let mut ready = deflater.piece(out)?;
                ready.extend(deflater.finish()?);
                Ok(ready)
            }
        }
    }
}
