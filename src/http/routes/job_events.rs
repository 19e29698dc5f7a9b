//! A job's changes as Server-Sent Events.
//!
//! The id of an event is the job's revision, so a client that comes back with
//! `Last-Event-ID` misses nothing it could still see. A stream ends with the
//! job, with the server, and soon after the key that opened it; a client that
//! comes back to a job whose end it has seen gets 204, which tells an
//! `EventSource` to stop. There are so many streams of one key, and in all: one
//! that waits for its job holds a connection for as long as it likes.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::job_view::EventView;
use super::jobs::visible_job;
use crate::http::auth::Principal;
use crate::http::extract::UrlPath;
use crate::http::header::LAST_EVENT_ID;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::JobId;
use crate::store::{JobRow, JobState};

/// Time without an event after which the client gets a comment.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long one look at the store waits for a change.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(stream_job_events))
}

/// Follow a job
///
/// `state` when the job changes its state, `progress` when it moves on; the
/// data of both is one JSON object with `state`, `progress`, `attempts`,
/// `release` and `problem`.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/events", operation_id = "stream_job_events", tag = "jobs",
    params(("id" = JobId, Path, description = "The job."),
        ("last-event-id" = Option<u64>, Header, description = "Id of the last event that was seen.")),
    responses(
        (status = 200, description = "The events, until the job ends.", body = String, content_type = "text/event-stream",
            example = "event: progress\nid: 4\ndata: {\"state\":\"running\",…}\n\n"),
        (status = 204, description = "The job has ended, and its last event was seen.")),
)]
async fn stream_job_events(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<JobId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let job = visible_job(&state, &principal, id).await?;
    let seen = last_event(&headers)?;
    let is_news = seen.is_none_or(|seen| job.revision > seen);
    if !is_news && job.state.is_final() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let share = state.event_streams.begin(principal.name(), 1)?;
    let revision = job.revision;
    let follow = Follow {
        next: is_news.then_some(job),
        // A client may claim to have seen what never was.
        revision: seen.map_or(revision, |seen| seen.min(revision)),
        told: None,
        state: state.clone(),
        id,
    };
    let shutdown = state.shutdown.clone().cancelled_owned();
    let revoked = principal.standing().ended(state.store, state.clock);
    let end = async move {
        tokio::select! {
            () = shutdown => {}
            () = revoked => {}
        }
    };
    let events = stream::unfold(follow, Follow::step).take_until(Box::pin(end));
    let events = events.inspect(move |_| {
        let _until_the_end = &share;
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(sse(events).keep_alive(keep_alive).into_response())
}

fn sse<S: Stream<Item = Result<Event, Infallible>> + Send + 'static>(events: S) -> Sse<S> {
    Sse::new(events)
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(&LAST_EVENT_ID) else {
        return Ok(None);
    };
    let seen = value.to_str().ok().and_then(|text| text.parse().ok());
    seen.map(Some).ok_or_else(|| {
        let detail = "last-event-id is the id of an event";
        Problem::new(ProblemKind::InvalidHeader, detail)
    })
}

/// Where a stream stands.
struct Follow {
    state: AppState,
    id: JobId,
    /// The job as it is to be told next, if that is known already.
    next: Option<JobRow>,
    /// The revision that was told last.
    revision: u64,
    /// The state that was told last.
    told: Option<JobState>,
}

impl Follow {
    /// The next event; `None` at the stream's end.
    async fn step(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let job = match self.next.take() {
            Some(job) => job,
            None if self.told.is_some_and(JobState::is_final) => return None,
            None => self.changed().await?,
        };
        self.revision = job.revision;
        let name = if self.told == Some(job.state) {
            "progress"
        } else {
            "state"
        };
        self.told = Some(job.state);
        let event = Event::default().event(name).id(job.revision.to_string());
        let event = event.json_data(EventView::from(job)).ok()?;
        Some((Ok(event), self))
    }

    /// Waits until there is something new; `None` where the store fails or the
    /// job is gone: the client comes back, or learns it then.
    async fn changed(&self) -> Option<JobRow> {
        loop {
            let watched = self
                .state
                .store
                .job_watch(self.id, self.revision, WATCH_TIMEOUT);
            match watched.await {
                Ok(job) if job.revision > self.revision => return Some(job),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}
