//! Closing a connection so that its last answer can still be read.
//!
//! A server that refuses a body at once has not read all of it. If it closed
//! the socket there and then, the kernel would answer what still arrives with
//! a reset, and a client that is busy sending may never see why. So the
//! writing side is closed alone, and what still arrives is read away, for a
//! bounded time and a bounded number of bytes. The place among the connections
//! is given back only then.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::timeout;

use super::connection::Connection;
use crate::config::Limits;

/// Bytes that are read away at a time.
const PIECE_BYTES: usize = 16 << 10;

/// A connection that lingers when it is dropped after its writing side was closed.
pub struct Lingering<S: AsyncRead + Unpin + Send + 'static> {
    /// The stream, and the connection's place; gone once they linger.
    held: Option<(S, Arc<Connection>)>,
    time: Duration,
    bytes_max: u64,
    /// Our side is closed.
    is_shut: bool,
    /// The client's side is closed: nothing is left to be read away.
    is_ended: bool,
}

impl<S: AsyncRead + Unpin + Send + 'static> Lingering<S> {
    /// A connection on its place.
    pub fn new(stream: S, place: Arc<Connection>, limits: &Limits) -> Self {
        Self {
            held: Some((stream, place)),
            time: limits.linger(),
            bytes_max: limits.linger_bytes_max,
            is_shut: false,
            is_ended: false,
        }
    }

    /// The stream; there until the drop.
    fn stream(&mut self) -> io::Result<Pin<&mut S>> {
        match &mut self.held {
            Some((stream, _)) => Ok(Pin::new(stream)),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl<S: AsyncRead + Unpin + Send + 'static> Drop for Lingering<S> {
    fn drop(&mut self) {
        let Some((stream, place)) = self.held.take() else {
            return;
        };
        if !self.is_shut || self.is_ended {
            return;
        }
        let (time, bytes_max) = (self.time, self.bytes_max);
        // Without a runtime the process is ending, and the socket with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = timeout(time, read_away(stream, bytes_max)).await;
                drop(place);
            });
        }
    }
}

/// Reads to the client's end, or until it has sent too much.
async fn read_away(mut stream: impl AsyncRead + Unpin, bytes_max: u64) {
    let mut piece = vec![0; PIECE_BYTES];
    let mut left = bytes_max;
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        match left.checked_sub(read as u64) {
            Some(less) => left = less,
            None => return,
        }
    }
}

impl<S: AsyncRead + Unpin + Send + 'static> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        let read = self.stream()?.poll_read(context, buffer);
        if matches!(read, Poll::Ready(Ok(()))) && room > 0 {
            self.is_ended = buffer.filled().len() == before;
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.held
            .as_ref()
            .is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = self.stream()?.poll_shutdown(context);
        self.is_shut |= matches!(shut, Poll::Ready(Ok(())));
        shut
    }
}
