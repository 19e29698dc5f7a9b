//! The parts of a body, made as far as the client takes them.
//!
//! Behind a client that takes nothing for a moment nothing stays in memory but
//! the parts that wait for it: the stored piece is forgotten and fetched again
//! later, and what was made of it lies in a temporary file without a name.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use vizard_anonymizer::microdata::Spill;
use vizard_anonymizer::release::Packed;

use super::Download;
use super::maker::Maker;
use super::pieces::Pieces;
use crate::http::range::BodyCut;
use crate::spill_file::SpillFile;

type Sender = mpsc::Sender<io::Result<Bytes>>;

/// Largest part.
const PART_BYTES: usize = 32 << 10;
/// Parts that wait for a client.
pub(super) const PARTS_WAITING: usize = 2;
/// More than this is never kept in memory for a client: a frame of CSV.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Time that a part waits before its client counts as one that takes nothing.
const PATIENCE: Duration = Duration::from_millis(250);

/// Makes the body and sends it until the client has all of it, or goes away.
pub(super) async fn send(download: Download, window: BodyCut, sender: Sender) -> io::Result<()> {
    let downloads = Arc::clone(&download.state.downloads);
    let mut making = Making {
        maker: Maker::new(&download.description, download.form)?,
        window,
    };
    let mut aside = Aside { room: None, sender };
    let mut pieces = Pieces::new(download);
    let mut turn = Turn::take(&downloads.turns).await?;
    while let Some(mut piece) = pieces.next().await? {
        loop {
            let made;
            let transcoding = match &making.maker {
                Maker::Transcoded(..) => Some(Turn::take(&downloads.transcoding).await?),
                _ => None,
            };
            (making, piece, made) = making.go_on(piece).await?;
            let left = match made {
                Made::UsedUp => break,
                Made::NoMore => return Ok(()),
                Made::Bytes(bytes) => aside.hand(bytes).await,
            };
            let Some(left) = left else { return Ok(()) };
            if left.is_empty() {
                continue;
            }
            let (taken, is_used_up) = (piece.taken(), piece.is_used_up());
            drop(piece);
            pieces.forget_ahead();
            let aside_bytes = aside.put(left).await?;
            drop((turn, transcoding));
            if !aside.hand_back(aside_bytes).await? {
                return Ok(());
            }
            turn = Turn::take(&downloads.turns).await?;
            if is_used_up {
                break;
            }
            piece = pieces.again(taken).await?;
        }
        if downloads.turns.available_permits() == 0 {
            // Others wait: they go first.
            pieces.forget_ahead();
            drop(turn);
            turn = Turn::take(&downloads.turns).await?;
        }
    }
    let rest = making.finish().await?;
    drop(turn);
    if let Some(left) = aside.hand(rest).await.filter(|left| !left.is_empty()) {
        let aside_bytes = aside.put(left).await?;
        aside.hand_back(aside_bytes).await?;
    }
    Ok(())
}

/// A turn among the downloads that are made; others wait until it is dropped.
struct Turn(#[expect(dead_code, reason = "gives the permit back")] OwnedSemaphorePermit);

impl Turn {
    async fn take(turns: &Arc<Semaphore>) -> io::Result<Self> {
        let turn = Arc::clone(turns).acquire_owned().await;
        turn.map(Self).map_err(io::Error::other)
    }
}

/// Hands what was made to the client, and lays aside what it does not take.
struct Aside {
    room: Option<SpillFile>,
    sender: Sender,
}

impl Aside {
    /// Hands over what the client takes without a pause; what is left, or
    /// `None` where the client went away.
    async fn hand(&mut self, mut bytes: Bytes) -> Option<Bytes> {
        if bytes.len() > HELD_BYTES_MAX {
            return Some(bytes);
        }
        while !bytes.is_empty() {
            let Ok(place) = tokio::time::timeout(PATIENCE, self.sender.reserve()).await else {
                return Some(bytes);
            };
            let part = bytes.split_to(bytes.len().min(PART_BYTES));
            // A copy: a slice would keep all of `bytes` in memory.
            place.ok()?.send(Ok(Bytes::copy_from_slice(&part)));
        }
        Some(bytes)
    }

    /// Lays bytes aside; how many.
    async fn put(&mut self, bytes: Bytes) -> io::Result<u64> {
        let room = self.room.take();
        let (room, count) = on_blocking_thread(move || {
            let mut room = match room {
                Some(room) => room,
                None => SpillFile::new()?,
            };
            room.clear()?;
            room.append(&bytes)?;
            Ok((room, bytes.len() as u64))
        })
        .await?;
        self.room = Some(room);
        Ok(count)
    }

    /// Hands over what was laid aside, however long the client takes; false
    /// where it went away.
    async fn hand_back(&mut self, count: u64) -> io::Result<bool> {
        let mut at = 0;
        while at < count {
            let Ok(place) = self.sender.reserve().await else {
                return Ok(false);
            };
            let Some(room) = self.room.take() else {
                return Err(io::Error::other("nothing was laid aside"));
            };
            let length = (count - at).min(PART_BYTES as u64);
            let (room, part) = on_blocking_thread(move || {
                let mut part = vec![0; length as usize];
                room.read_at(at, &mut part)?;
                Ok((room, part))
            })
            .await?;
            self.room = Some(room);
            place.send(Ok(part.into()));
            at += length;
        }
        Ok(true)
    }
}

/// A body that is being made.
struct Making {
    maker: Maker,
    window: BodyCut,
}

/// What came of some of a piece.
enum Made {
    /// Bytes of the body.
    Bytes(Bytes),
    /// Nothing: the piece is used up.
    UsedUp,
    /// Nothing: the client has all it wanted.
    NoMore,
}

impl Making {
    /// Makes some more of a piece, where that may take its time.
    async fn go_on(mut self, mut piece: Packed) -> io::Result<(Self, Packed, Made)> {
        // What is passed on as it is takes none.
        if matches!(self.maker, Maker::AsStored) {
            let made = self.make(&mut piece)?;
            return Ok((self, piece, made));
        }
        on_blocking_thread(move || {
            let made = self.make(&mut piece)?;
            Ok((self, piece, made))
        })
        .await
    }

    fn make(&mut self, piece: &mut Packed) -> io::Result<Made> {
        while !self.window.is_past() {
            let Some(made) = self.maker.take(piece)? else {
                return Ok(Made::UsedUp);
            };
            let bytes = self.window.cut(&made.into());
            if !bytes.is_empty() {
                return Ok(Made::Bytes(bytes));
            }
        }
        Ok(Made::NoMore)
    }

    /// Makes what comes behind the last piece.
    async fn finish(mut self) -> io::Result<Bytes> {
        let maker = self.maker;
        let rest = on_blocking_thread(move || maker.finish()).await?;
        Ok(self.window.cut(&rest.into()))
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("a part could not be made")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::coding::Deflater;
    use crate::http::range::Part;
    use vizard_anonymizer::release::{Unpacker, pack};

    /// Text of four frames, which pack it whole.
    const TEXT_BYTES: usize = 4 << 20;

    fn text() -> Vec<u8> {
        let rows = (0..).flat_map(|row| format!("{row},[20-39],a word\n").into_bytes());
        rows.take(TEXT_BYTES).collect()
    }

    fn making(part: Option<Part>) -> Making {
        Making {
            maker: Maker::Canonical(Unpacker::default(), Deflater::Identity),
            window: BodyCut::new(part),
        }
    }

    fn bytes(made: Made) -> Bytes {
        match made {
            Made::Bytes(bytes) => bytes,
            _ => panic!("nothing was made"),
        }
    }

    #[test]
    fn one_frame_is_unpacked_at_a_time_also_of_a_piece_that_was_forgotten() {
        let text = text();
        let stored = pack(&text).expect("packed");
        let (mut making, mut taken, mut got) = (making(None), 0, Vec::new());
        for frame in 0..4 {
            let mut piece = Packed::new(stored.clone()).without(taken);
            assert!(!piece.is_used_up());
            got.extend(bytes(making.make(&mut piece).expect("made")));
            assert_eq!(got.len(), (frame + 1) << 20);
            taken = piece.taken();
        }
        assert_eq!(got, text);
        let mut piece = Packed::new(stored).without(taken);
        assert!(piece.is_used_up());
        let made = making.make(&mut piece).expect("made");
        assert!(matches!(made, Made::UsedUp));
    }

    #[test]
    fn nothing_is_unpacked_behind_the_part_that_is_wanted() {
        let text = text();
        let mut piece = Packed::new(pack(&text).expect("packed"));
        let (first, last) = (1_200_000, 1_300_000);
        let mut making = making(Some(Part { first, last }));
        let got = bytes(making.make(&mut piece).expect("made"));
        assert_eq!(got, text[first as usize..=last as usize]);
        let made = making.make(&mut piece).expect("made");
        assert!(matches!(made, Made::NoMore));
        let rest = zstd::decode_all(piece.take().as_slice()).expect("whole frames");
        assert_eq!(rest.len(), TEXT_BYTES / 2);
    }

    #[tokio::test]
    async fn what_a_client_does_not_take_lies_aside_and_comes_back_in_order() {
        let text = Bytes::from(text()).slice(..HELD_BYTES_MAX);
        let (sender, mut receiver) = mpsc::channel(PARTS_WAITING);
        let mut aside = Aside { room: None, sender };
        let left = aside.hand(text.clone()).await.expect("the client is there");
        assert_eq!(left.len(), HELD_BYTES_MAX - PARTS_WAITING * PART_BYTES);
        let count = aside.put(left).await.expect("a file");
        let handing = tokio::spawn(async move { aside.hand_back(count).await });
        let mut got = Vec::new();
        while let Some(part) = receiver.recv().await {
            let part = part.expect("bytes");
            assert!(part.len() <= PART_BYTES);
            got.extend(part);
        }
        assert!(handing.await.expect("no panic").expect("read back"));
        assert_eq!(got, text);
    }

    #[tokio::test]
    async fn nothing_is_handed_to_a_client_that_went_away() {
        let (sender, receiver) = mpsc::channel(PARTS_WAITING);
        let mut aside = Aside { room: None, sender };
        drop(receiver);
        assert_eq!(aside.hand(Bytes::from_static(b"text")).await, None);
        let count = aside
            .put(Bytes::from_static(b"text"))
            .await
            .expect("a file");
        assert!(!aside.hand_back(count).await.expect("no error"));
    }
}
