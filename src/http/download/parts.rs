//! The parts of a body, made as far as the client takes them.

use std::io;

use axum::body::Bytes;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::Download;
use super::maker::Maker;
use super::pieces::Pieces;
use crate::http::range::Window;
use crate::release::Packed;

type Sender = mpsc::Sender<io::Result<Bytes>>;

/// Makes the body and sends it until the client has all of it, or goes away.
pub(super) async fn send(download: Download, window: Window, sender: Sender) -> io::Result<()> {
    let mut making = Making {
        maker: Maker::new(&download.description, download.form)?,
        window,
        sender: sender.clone(),
    };
    let mut pieces = Pieces::new(download);
    while let Some(mut piece) = pieces.next().await? {
        loop {
            let halt;
            (making, piece, halt) = making.go_on(piece).await?;
            match halt {
                Halt::UsedUp => break,
                Halt::NoMore => return Ok(()),
                Halt::Full(part) => match sender.send(Ok(part)).await {
                    Ok(()) => {}
                    Err(_) => return Ok(()),
                },
            }
        }
    }
    making.finish().await
}

/// A body that is being made.
struct Making {
    maker: Maker,
    window: Window,
    sender: Sender,
}

/// Why no more is made now.
enum Halt {
    /// The piece is used up, and all that came of it is sent.
    UsedUp,
    /// So much waits for the client that this part has to wait for room.
    Full(Bytes),
    /// The client has what it wanted, or went away.
    NoMore,
}

impl Making {
    /// Makes parts of a piece where that may take its time, while there is room.
    async fn go_on(mut self, mut piece: Packed) -> io::Result<(Self, Packed, Halt)> {
        // What is passed on as it is takes none.
        if matches!(self.maker, Maker::AsStored) {
            let halt = self.make(&mut piece)?;
            return Ok((self, piece, halt));
        }
        on_blocking_thread(move || {
            let halt = self.make(&mut piece)?;
            Ok((self, piece, halt))
        })
        .await
    }

    fn make(&mut self, piece: &mut Packed) -> io::Result<Halt> {
        while !self.window.is_past() {
            let Some(made) = self.maker.take(piece)? else {
                return Ok(Halt::UsedUp);
            };
            let part = self.window.cut(&made.into());
            if part.is_empty() {
                continue;
            }
            match self.sender.try_send(Ok(part)) {
                Ok(()) => {}
                Err(TrySendError::Full(Ok(part))) => return Ok(Halt::Full(part)),
                Err(_) => return Ok(Halt::NoMore),
            }
        }
        Ok(Halt::NoMore)
    }

    /// Makes and sends what comes behind the last piece.
    async fn finish(mut self) -> io::Result<()> {
        let maker = self.maker;
        let rest = on_blocking_thread(move || maker.finish()).await?;
        let rest = self.window.cut(&rest.into());
        // Nobody may be left to take it.
        if !rest.is_empty() {
            let _ = self.sender.send(Ok(rest)).await;
        }
        Ok(())
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
    use crate::release::{Unpacker, pack};

    /// Text of four frames, which pack it whole.
    const TEXT_BYTES: usize = 4 << 20;

    fn text() -> Vec<u8> {
        let rows = (0..).flat_map(|row| format!("{row},[20-39],a word\n").into_bytes());
        rows.take(TEXT_BYTES).collect()
    }

    /// A body with room for one part.
    fn making(part: Option<Part>) -> (Making, mpsc::Receiver<io::Result<Bytes>>) {
        let (sender, receiver) = mpsc::channel(1);
        let making = Making {
            maker: Maker::Canonical(Unpacker::default(), Deflater::Identity),
            window: Window::new(part),
            sender,
        };
        (making, receiver)
    }

    /// Bytes of text that were not unpacked.
    fn left(mut piece: Packed) -> usize {
        let rest = zstd::decode_all(piece.take().as_slice());
        rest.expect("whole frames").len()
    }

    #[test]
    fn no_more_is_unpacked_than_the_client_has_room_for() {
        let text = text();
        let mut piece = Packed::new(pack(&text).expect("packed"));
        let (mut making, mut receiver) = making(None);
        let mut got = Vec::new();
        for _ in 0..2 {
            let halt = making.make(&mut piece).expect("made");
            let Halt::Full(part) = halt else {
                panic!("there was room for more than one part");
            };
            got.extend(receiver.try_recv().expect("a part").expect("bytes"));
            assert!(receiver.try_recv().is_err());
            got.extend(part);
        }
        assert_eq!(got, text);
        let halt = making.make(&mut piece).expect("made");
        assert!(matches!(halt, Halt::UsedUp));
    }

    #[test]
    fn nothing_is_unpacked_behind_the_part_that_is_wanted() {
        let text = text();
        let mut piece = Packed::new(pack(&text).expect("packed"));
        let (first, last) = (1_200_000, 1_300_000);
        let (mut making, mut receiver) = making(Some(Part { first, last }));
        let halt = making.make(&mut piece).expect("made");
        assert!(matches!(halt, Halt::NoMore));
        let got = receiver.try_recv().expect("a part").expect("bytes");
        assert_eq!(got, text[first as usize..=last as usize]);
        assert!(receiver.try_recv().is_err());
        assert_eq!(left(piece), TEXT_BYTES / 2);
    }

    #[test]
    fn nothing_is_unpacked_for_a_client_that_went_away() {
        let mut piece = Packed::new(pack(&text()).expect("packed"));
        let (mut making, receiver) = making(None);
        drop(receiver);
        let halt = making.make(&mut piece).expect("made");
        assert!(matches!(halt, Halt::NoMore));
        assert_eq!(left(piece), TEXT_BYTES / 4 * 3);
    }
}
