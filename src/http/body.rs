//! Bodies of requests, read under their limits.
//!
//! A body that says it is too large is refused before a byte is read, any
//! other as soon as it is; one that arrives too slowly is refused as well,
//! however small it is. The rate counts only time spent waiting for the
//! client: where the service itself is slow to take a body in, nobody is
//! refused for it. What is left of a refused body is the connection's affair
//! (`listener`).

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use tokio::time::{Instant, timeout};
use tokio_stream::StreamExt;

use super::coding::{self, ContentCoding, unpack};
use super::problem::{Problem, ProblemKind};
use crate::config::{Limit, Limits};

/// Room that is made for a body before any of it is there, in bytes.
const ROOM_BYTES_MAX: u64 = 64 << 10;

/// Reads a body that may be packed into memory, at most `bytes_max` bytes
/// before and after it is unpacked.
pub async fn unpacked_body(
    request: Request,
    bytes_max: Limit,
    limits: &Limits,
) -> Result<Vec<u8>, Problem> {
    let coding = coding::of_body(request.headers())?;
    let body = whole_body(request.into_body(), bytes_max, limits).await?;
    if coding == ContentCoding::Identity {
        return Ok(body.into());
    }
    let ratio_max = limits.inflation_ratio_max;
    let unpacking =
        tokio::task::spawn_blocking(move || unpack(&body, coding, ratio_max, bytes_max));
    unpacking.await.map_err(|_| Problem::internal())?
}

/// Reads a body of at most `bytes_max` bytes into memory.
pub async fn whole_body(body: Body, bytes_max: Limit, limits: &Limits) -> Result<Bytes, Problem> {
    let room = body.size_hint().lower().min(ROOM_BYTES_MAX);
    let mut whole = Vec::with_capacity(room as usize);
    let mut pieces = BodyPieces::new(body, bytes_max, limits)?;
    while let Some(piece) = pieces.next().await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// A body piece by piece, under a limit on its size and on its slowness.
pub struct BodyPieces {
    stream: BodyDataStream,
    bytes_max: Limit,
    bytes_left: u64,
    pace: Pace,
}

impl BodyPieces {
    /// Refuses at once a body that says it is larger than `bytes_max`.
    pub fn new(body: Body, bytes_max: Limit, limits: &Limits) -> Result<Self, Problem> {
        if body.size_hint().lower() > bytes_max.value {
            return Err(Problem::body_too_large(bytes_max));
        }
        Ok(Self {
            stream: body.into_data_stream(),
            bytes_max,
            bytes_left: bytes_max.value,
            pace: Pace::of(limits),
        })
    }

    /// The next piece; `None` at the body's end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let start = Instant::now();
        let next = timeout(self.pace.patience, self.stream.next()).await;
        let piece = match next {
            Err(_) => return Err(self.pace.lost()),
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => {
                return Err(Problem::new(ProblemKind::BodyTimeout, "the body broke off"));
            }
            Ok(Some(Ok(piece))) => piece,
        };
        self.pace.keep(start.elapsed(), piece.len() as u64)?;
        match self.bytes_left.checked_sub(piece.len() as u64) {
            Some(left) => self.bytes_left = left,
            None => return Err(Problem::body_too_large(self.bytes_max)),
        }
        Ok(Some(piece))
    }
}

/// How fast a body arrives: some number of bytes is due in each window of
/// time spent waiting; where they come sooner, the next window begins.
struct Pace {
    limits: Limits,
    /// Time that may still be spent waiting in this window.
    patience: Duration,
    /// Bytes still due in this window.
    due: u64,
}

impl Pace {
    fn of(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            patience: limits.body_window(),
            due: limits.body_window_bytes_min(),
        }
    }

    /// Counts a piece that was waited for.
    fn keep(&mut self, waited: Duration, bytes: u64) -> Result<(), Problem> {
        self.due = self.due.saturating_sub(bytes);
        self.patience = self.patience.saturating_sub(waited);
        if self.due == 0 {
            *self = Self::of(&self.limits);
        }
        if self.patience.is_zero() {
            Err(self.lost())
        } else {
            Ok(())
        }
    }

    fn lost(&self) -> Problem {
        let (rate, window) = (
            self.limits.body_bytes_per_s_min(),
            self.limits.body_window_ms(),
        );
        let detail = format!("the body arrived more slowly than {rate}, over {window}");
        Problem::new(ProblemKind::BodyTimeout, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::of(&Limits {
            body_bytes_per_s_min: 100,
            body_window_ms: 1_000,
            ..Limits::default()
        })
    }

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_body_at_its_least_rate_is_read_for_ever() {
        let mut pace = pace();
        for _ in 0..1_000 {
            assert!(pace.keep(ms(499), 50).is_ok());
            assert!(pace.keep(ms(500), 50).is_ok());
        }
    }

    #[test]
    fn a_byte_less_in_the_window_is_too_slow() {
        let mut pace = pace();
        assert!(pace.keep(ms(500), 99).is_ok());
        let problem = pace.keep(ms(500), 0).expect_err("too slow");
        assert_eq!(problem.kind(), ProblemKind::BodyTimeout);
        let detail = problem.document(None).detail;
        assert!(
            detail.contains("body_bytes_per_s_min, 100 bytes per second"),
            "{detail}"
        );
    }

    #[test]
    fn what_comes_early_is_not_saved_for_later() {
        let mut pace = pace();
        assert!(pace.keep(ms(1), 1 << 30).is_ok());
        assert!(pace.keep(ms(1_000), 1).is_err());
    }
}
