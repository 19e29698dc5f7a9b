//! The digest of an upload's content.
//!
//! SHA-256 over the names of the attributes in schema order, then the
//! canonical text of every accepted cell, record by record in schema order;
//! each text behind its length (LEB128), each record behind the byte 0xFF. How the
//! records were written, in which format and in which order of columns, does
//! not change it. *Ours.*

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

use super::schema::Schema;

/// Text is digested in runs of so many bytes and a record.
const BUFFER_BYTES: usize = 64 << 10;
/// Runs that wait for the thread that digests them.
const RUNS_WAITING: usize = 2;
/// Begins a record. The number of cells is fixed by the schema, so lengths
/// alone already tell records apart; the mark makes it plain.
const RECORD_MARK: u8 = 0xFF;

/// The digest of the content read so far.
///
/// Content of more than one run is digested by a thread of its own while its
/// reader goes on.
pub(super) struct ContentDigest {
    hash: Sha256,
    buffer: Vec<u8>,
    thread: Option<DigestThread>,
}

/// A thread that digests.
struct DigestThread {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    end: JoinHandle<Sha256>,
}

impl DigestThread {
    /// Goes on with a digest; `None` where the system gives no thread.
    fn start(mut hash: Sha256) -> Option<Self> {
        let (full, to_digest) = sync_channel::<Vec<u8>>(RUNS_WAITING);
        let (digested, empty) = sync_channel(RUNS_WAITING + 1);
        let digest = move || {
            for run in to_digest {
                hash.update(&run);
                // The reader may have ended: then nobody needs the buffer.
                let _ = digested.try_send(run);
            }
            hash
        };
        let thread = std::thread::Builder::new().name("digest".into());
        Some(Self {
            full,
            empty,
            end: thread.spawn(digest).ok()?,
        })
    }
}

impl ContentDigest {
    /// The digest of no record under `schema`.
    pub fn new(schema: &Schema) -> Self {
        let mut digest = Self {
            hash: Sha256::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES * 2),
            thread: None,
        };
        digest.hash.update(b"vizard records 1\n");
        digest.record();
        for attribute in schema.attributes() {
            digest.cell(attribute.name.as_bytes());
        }
        digest
    }

    /// A record begins.
    #[inline]
    pub fn record(&mut self) {
        if self.buffer.len() >= BUFFER_BYTES {
            self.digest_run();
        }
        self.buffer.push(RECORD_MARK);
    }

    #[cold]
    fn digest_run(&mut self) {
        if self.thread.is_none() {
            self.thread = DigestThread::start(self.hash.clone());
        }
        let Some(thread) = &self.thread else {
            self.hash.update(&self.buffer);
            self.buffer.clear();
            return;
        };
        let fresh = || Vec::with_capacity(BUFFER_BYTES * 2);
        let mut buffer = thread.empty.try_recv().unwrap_or_else(|_| fresh());
        buffer.clear();
        let run = std::mem::replace(&mut self.buffer, buffer);
        // The thread ends only after this end is dropped.
        let _ = thread.full.send(run);
    }

    /// The canonical text of the record's next cell.
    #[inline]
    pub fn cell(&mut self, text: &[u8]) {
        let mut length = text.len();
        while length >= 0x80 {
            self.buffer.push(0x80 | (length & 0x7F) as u8);
            length >>= 7;
        }
        self.buffer.push(length as u8);
        self.buffer.extend_from_slice(text);
    }

    /// The digest.
    pub fn finish(mut self) -> [u8; 32] {
        if let Some(DigestThread { full, end, .. }) = self.thread {
            drop(full);
            self.hash = end
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        self.hash.update(&self.buffer);
        self.hash.finalize().into()
    }
}
