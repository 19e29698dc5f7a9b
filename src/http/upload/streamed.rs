//! A body on its way to a thread that may block, and what goes wrong there.

use axum::body::Body;
use vizard_anonymizer::microdata::TableError;

use super::body_reader::{BodyReader, body_channel};
use crate::config::{Limit, Limits};
use crate::http::body::BodyPieces;
use crate::http::coding::{InflateFault, packing_problem};
use crate::http::convert::limited_problem;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::store::StoreError;

/// What went wrong on the thread that reads.
pub(super) enum ReadError {
    Table(TableError),
    Packing(InflateFault),
    Store(StoreError),
    OtherSubject,
    SpillFile(std::io::Error),
}

impl From<TableError> for ReadError {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl ReadError {
    /// As a problem; `misfit` is the kind for what does not fit, `bytes_max`
    /// the limit on the body.
    pub(super) fn problem(
        self,
        limits: &Limits,
        (misfit, bytes_max): (ProblemKind, Limit),
    ) -> Problem {
        match self {
            Self::Table(error) => limited_problem(&error, misfit, limits),
            Self::Packing(fault) => packing_problem(fault, bytes_max),
            Self::Store(error) => error.into(),
            Self::OtherSubject => Problem::new(
                ProblemKind::InvalidBody,
                "the body names another subject than the path; nothing was kept of it",
            ),
            Self::SpillFile(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                Problem::new(ProblemKind::StoreFull, "nothing was kept of this upload")
            }
            Self::SpillFile(error) => {
                tracing::error!(error = %error.kind(), "the temporary file of an upload failed");
                Problem::internal()
            }
        }
    }
}

/// Passes a body piece by piece to `work`, on a thread that may block; answers
/// what it says.
pub(super) async fn streamed<T: Send + 'static>(
    state: &AppState,
    body: Body,
    bytes_max: Limit,
    work: impl FnOnce(BodyReader) -> T + Send + 'static,
) -> Result<T, Problem> {
    let mut pieces = BodyPieces::new(body, bytes_max, &state.settings.limits)?;
    let (sender, reader) = body_channel();
    let span = tracing::Span::current();
    let reading = state.reading.run(move || {
        let _entered = span.enter();
        work(reader)
    });
    let pumped = async {
        let mut received = 0_u64;
        while let Some(piece) = pieces.next().await? {
            received += piece.len() as u64;
            metrics::counter!("vizard_upload_bytes_total").increment(piece.len() as u64);
            // The reader stops early where it knows enough: a fault that ends
            // the reading, or a failure. What it says is the answer.
            if !sender.send(piece).await {
                break;
            }
        }
        tracing::debug!(bytes = received, "the body was passed on");
        sender.end().await;
        Ok::<(), Problem>(())
    };
    pumped.await?;
    reading.await.ok_or_else(|| {
        tracing::error!("there was no thread to read a body, or it panicked");
        Problem::internal()
    })
}
