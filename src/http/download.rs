//! A table on its way to a client, made while it is taken.
//!
//! A table is stored as zstd frames of canonical CSV, cut at rows. A download
//! goes piece by piece: one is turned into the form wanted, packed as the
//! client likes and cut to the range asked for, on a thread that may block,
//! while the next one is fetched and unpacked. One more waits for the client;
//! until it has taken that, nothing further is begun.
//! Canonical CSV that is wanted as zstd is sent as it is stored. An error in
//! the middle breaks the connection off: a shorter table must not look like a
//! whole one.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;

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

    /// Whether it is what is stored, packed as it is.
    fn is_as_stored(self) -> bool {
        self.is_canonical() && self.coding == ContentCoding::Zstd
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
    /// The next piece, which is fetched while the one before it is made.
    ahead: Option<AbortOnDropHandle<io::Result<Vec<u8>>>>,
    /// Pieces that were begun to be fetched.
    begun: u32,
}

impl Making {
    fn new(download: Download) -> io::Result<Self> {
        Ok(Self {
            maker: Some(Maker::new(&download.description, download.form)?),
            download,
            ahead: None,
            begun: 0,
        })
    }

    /// The next piece, which may be empty; `None` behind the last one.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(maker) = self.maker.take() else {
            return Ok(None);
        };
        let Some(fetching) = self.ahead.take().or_else(|| self.fetch()) else {
            return on_blocking_thread(move || maker.finish()).await.map(Some);
        };
        self.ahead = self.fetch();
        let fetched = fetching.await.map_err(io::Error::other)??;
        let (maker, ready) = match maker.passes_on() {
            true => maker.piece(fetched)?,
            false => on_blocking_thread(move || maker.piece(fetched)).await?,
        };
        self.maker = Some(maker);
        Ok(Some(ready))
    }

    /// Begins to fetch and unpack the next piece, if there is one.
    fn fetch(&mut self) -> Option<AbortOnDropHandle<io::Result<Vec<u8>>>> {
        let Download {
            state, table, form, ..
        } = &self.download;
        let position = self.begun;
        if position == table.pieces {
            return None;
        }
        self.begun += 1;
        let (store, release, name) = (Arc::clone(&state.store), table.release, table.name.clone());
        let as_stored = form.is_as_stored();
        let fetching = async move {
            let stored = store.table_piece(release, name, position).await;
            let stored = stored.map_err(io::Error::other)?;
            match as_stored {
                true => Ok(stored),
                false => on_blocking_thread(move || unpack(&stored)).await,
            }
        };
        let fetching = tracing::Instrument::in_current_span(fetching);
        Some(AbortOnDropHandle::new(tokio::spawn(fetching)))
    }
}

fn unpack(stored: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(stored, PIECE_RAW_BYTES_MAX)
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("a piece could not be made")),
    }
}

/// Turns pieces into the form that is wanted, one after the other.
enum Maker {
    /// Sent as it is stored (zstd frames, one behind the other) or unpacked.
    Canonical(Deflater),
    /// Turned into another format first.
    Transcoded(Box<Transcoder>, Deflater),
}

impl Maker {
    fn new(description: &TableDescription, form: Form) -> io::Result<Self> {
        if form.is_as_stored() {
            return Ok(Self::Canonical(Deflater::Identity));
        }
        let deflater = Deflater::new(form.coding)?;
        if form.is_canonical() {
            return Ok(Self::Canonical(deflater));
        }
        let transcoder = Transcoder::new(description, form.format).map_err(io::Error::other)?;
        Ok(Self::Transcoded(Box::new(transcoder), deflater))
    }

    /// Whether pieces go as they come, so that there is nothing to wait for.
    fn passes_on(&self) -> bool {
        matches!(self, Self::Canonical(Deflater::Identity))
    }

    fn piece(mut self, piece: Vec<u8>) -> io::Result<(Self, Vec<u8>)> {
        let ready = match &mut self {
            Self::Canonical(deflater) => deflater.piece(piece)?,
            Self::Transcoded(transcoder, deflater) => {
                let mut out = Vec::new();
                transcoder
                    .piece(&piece, &mut out)
                    .map_err(io::Error::other)?;
                deflater.piece(out)?
            }
        };
        Ok((self, ready))
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
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
