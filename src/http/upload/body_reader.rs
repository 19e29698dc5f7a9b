//! A body that arrives on the async side, read on a thread that may block.
//!
//! The channel holds few pieces, so a fast client waits for a slow reader.
//! The end of the body is said, not guessed: a request that is dropped in the
//! middle must not look like a shorter body.

use std::io::{self, Read};

use axum::body::Bytes;
use tokio::sync::mpsc;

/// Pieces on their way at once.
const PIECES_MAX: usize = 8;

enum Part {
    Piece(Bytes),
    End,
}

/// The async side.
pub struct BodySender(mpsc::Sender<Part>);

/// The blocking side.
pub struct BodyReader {
    parts: mpsc::Receiver<Part>,
    piece: Bytes,
    is_ended: bool,
}

/// Both sides of a body.
pub fn body_channel() -> (BodySender, BodyReader) {
    let (sender, parts) = mpsc::channel(PIECES_MAX);
    let reader = BodyReader {
        parts,
        piece: Bytes::new(),
        is_ended: false,
    };
    (BodySender(sender), reader)
}

impl BodySender {
    /// Passes a piece on; false where the reader is gone.
    pub async fn send(&self, piece: Bytes) -> bool {
        self.0.send(Part::Piece(piece)).await.is_ok()
    }

    /// Says that the body is complete.
    pub async fn end(self) {
        // A reader that is gone needs no end.
        let _ = self.0.send(Part::End).await;
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.is_ended {
            match self.parts.blocking_recv() {
                Some(Part::Piece(piece)) => self.piece = piece,
                Some(Part::End) => self.is_ended = true,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let length = self.piece.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_on_a_thread(mut reader: BodyReader) -> std::thread::JoinHandle<io::Result<String>> {
        std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        })
    }

    #[tokio::test]
    async fn pieces_are_read_in_order_to_the_end() {
        let (sender, reader) = body_channel();
        let reading = read_on_a_thread(reader);
        for piece in ["one ", "", "two ", "three"] {
            assert!(sender.send(Bytes::from(piece)).await);
        }
        sender.end().await;
        assert_eq!(
            reading.join().expect("no panic").expect("read"),
            "one two three"
        );
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_an_error_and_not_a_shorter_body() {
        let (sender, reader) = body_channel();
        let reading = read_on_a_thread(reader);
        assert!(sender.send(Bytes::from("half")).await);
        drop(sender);
        assert!(reading.join().expect("no panic").is_err());
    }
}
