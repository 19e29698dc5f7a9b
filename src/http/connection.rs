//! Connections: how many there may be, and which end because nothing moves.
//!
//! Anyone who can reach the port can open connections, and HTTP/2 keeps one open
//! for as long as its client answers pings. So a connection on which no request
//! was authenticated lives for a short time, one address has few of them, and
//! all of them together leave room for clients that are signed in. A connection
//! without requests ends after a while, and so does one whose client does not
//! take an answer that stands ready: what waits there is memory of ours.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::throttle::network_of;
use crate::config::Limits;

/// One connection in so many is kept for clients that are signed in.
const SIGNED_IN_SHARE: u64 = 4;
/// Longest time between two looks at a connection.
const LOOK_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The connections of one listener.
pub struct Connections {
    anonymous: Arc<Semaphore>,
    signed_in: Arc<Semaphore>,
    /// Connections of each address on which nobody is signed in.
    of_address: Mutex<HashMap<IpAddr, u64>>,
    of_address_max: u64,
}

/// As many permits as a limit says, or as a semaphore can have.
pub(super) fn permits(limit: u64) -> usize {
    usize::try_from(limit).map_or(Semaphore::MAX_PERMITS, |limit| {
        limit.min(Semaphore::MAX_PERMITS)
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connections {
    /// Room for `most` connections, of which clients that are not signed in
    /// leave a quarter free.
    pub fn new(most: u64, limits: &Limits) -> Arc<Self> {
        let kept = most / SIGNED_IN_SHARE;
        Arc::new(Self {
            anonymous: Arc::new(Semaphore::new(permits(most - kept))),
            signed_in: Arc::new(Semaphore::new(permits(kept))),
            of_address: Mutex::default(),
            of_address_max: limits.anonymous_connections_of_address_max,
        })
    }

    /// Room for one more connection; waits until there is some.
    pub async fn room(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed; without it there is no service.
        Arc::clone(&self.anonymous).acquire_owned().await.ok()
    }

    /// A connection from an address; `None` where the address has too many.
    pub fn open(
        self: &Arc<Self>,
        address: IpAddr,
        room: OwnedSemaphorePermit,
    ) -> Option<Arc<Connection>> {
        let counted = network_of(address);
        let mut of_address = locked(&self.of_address);
        let count = of_address.entry(counted).or_default();
        if *count >= self.of_address_max {
            return None;
        }
        *count += 1;
        let now = Instant::now();
        Some(Arc::new(Connection {
            all: Arc::clone(self),
            address: counted,
            began: now,
            state: Mutex::new(State {
                room,
                is_signed_in: false,
                was_asked: false,
                requests: 0,
                header_since: None,
                quiet_since: now,
                answers: Vec::new(),
            }),
        }))
    }

    fn leave(&self, address: IpAddr) {
        let mut of_address = locked(&self.of_address);
        if let Some(count) = of_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                of_address.remove(&address);
            }
        }
    }
}

/// One connection; its room is given back with the last handle.
pub struct Connection {
    all: Arc<Connections>,
    address: IpAddr,
    began: Instant,
    state: Mutex<State>,
}

struct State {
    room: OwnedSemaphorePermit,
    is_signed_in: bool,
    was_asked: bool,
    requests: usize,
    /// Since when the header of an HTTP/1 request arrives.
    header_since: Option<Instant>,
    /// Since when there is no request.
    quiet_since: Instant,
    /// Since when each answer waits for the client.
    answers: Vec<Weak<Waiting>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !locked(&self.state).is_signed_in {
            self.all.leave(self.address);
        }
    }
}

/// Why a connection is ended, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// When its requests are answered.
    Soon(&'static str),
    /// At once.
    Now(&'static str),
}

impl Connection {
    /// Notes that a request on it was authenticated: it counts no more among
    /// the connections of its address, and leaves room for others where it can.
    pub fn sign_in(&self) {
        let mut state = locked(&self.state);
        if state.is_signed_in {
            return;
        }
        state.is_signed_in = true;
        if let Ok(room) = Arc::clone(&self.all.signed_in).try_acquire_owned() {
            state.room = room;
        }
        drop(state);
        self.all.leave(self.address);
    }

    /// Begins a request, which lasts until the body of its answer is dropped.
    pub fn request(self: &Arc<Self>) -> Request {
        let mut state = locked(&self.state);
        state.was_asked = true;
        state.requests += 1;
        Request(Arc::clone(self))
    }

    /// Notes whether a header has begun to arrive and is not at its end.
    pub fn header(&self, is_begun: bool) {
        locked(&self.state).header_since = is_begun.then(Instant::now);
    }

    /// Whether the connection has to end now, and why.
    pub fn due(&self, now: Instant, limits: &Limits) -> Option<End> {
        let mut state = locked(&self.state);
        let age = now.saturating_duration_since(self.began);
        // A header that arrives behind a request waits until that is answered.
        let header_since = match state.header_since {
            _ if !state.was_asked => Some(self.began),
            since => since.filter(|_| state.requests == 0),
        };
        let is_late = |since: Instant| {
            let since = since.max(state.quiet_since);
            now.saturating_duration_since(since) >= limits.header_timeout()
        };
        if header_since.is_some_and(is_late) {
            return Some(End::Now("header"));
        }
        state.answers.retain(|answer| answer.strong_count() > 0);
        let stalled = |answer: &Weak<Waiting>| {
            let waiting = answer.upgrade()?.since(self.began)?;
            (now.saturating_duration_since(waiting) >= limits.stall_timeout()).then_some(())
        };
        if state.answers.iter().any(|answer| stalled(answer).is_some()) {
            return Some(End::Now("stalled"));
        }
        if !state.is_signed_in && age >= limits.anonymous_timeout() {
            return Some(End::Soon("anonymous"));
        }
        let quiet = now.saturating_duration_since(state.quiet_since);
        let is_idle = state.requests == 0 && quiet >= limits.idle_timeout();
        is_idle.then_some(End::Soon("idle"))
    }

    /// Time between two looks at a connection under these limits.
    pub fn look_interval(limits: &Limits) -> Duration {
        let shortest = limits
            .header_timeout()
            .min(limits.stall_timeout())
            .min(limits.anonymous_timeout())
            .min(limits.idle_timeout());
        (shortest / 4).clamp(Duration::from_millis(10), LOOK_INTERVAL_MAX)
    }
}

/// A request that is not over.
pub struct Request(Arc<Connection>);

impl Request {
    /// The body of its answer, watched.
    pub fn answer<B>(self, body: B) -> Watched<B> {
        let waiting = Arc::new(Waiting::default());
        waiting.begin(self.0.began);
        let mut state = locked(&self.0.state);
        state.answers.retain(|answer| answer.strong_count() > 0);
        state.answers.push(Arc::downgrade(&waiting));
        drop(state);
        Watched {
            body,
            waiting,
            request: self,
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut state = locked(&self.0.state);
        state.requests -= 1;
        state.quiet_since = Instant::now();
    }
}

/// Since when an answer waits for its client: milliseconds behind the begin of
/// the connection and one more; 0 while the client waits for us.
#[derive(Default)]
struct Waiting(AtomicU64);

impl Waiting {
    fn begin(&self, of_connection: Instant) {
        let behind = u64::try_from(of_connection.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.0.store(behind + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn since(&self, of_connection: Instant) -> Option<Instant> {
        let behind = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        Some(of_connection + Duration::from_millis(behind))
    }
}

/// The body of an answer, which notes whether it waits for the client or the
/// client for it.
pub struct Watched<B> {
    body: B,
    waiting: Arc<Waiting>,
    request: Request,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match frame {
            // What is handed over is asked for again once the client took it.
            Poll::Ready(Some(Ok(_))) => self.waiting.begin(self.request.0.began),
            _ => self.waiting.end(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn limits() -> Limits {
        Limits {
            anonymous_connections_of_address_max: 2,
            header_timeout_ms: 1_000,
            anonymous_timeout_ms: 3_000,
            idle_timeout_ms: 10_000,
            stall_timeout_ms: 20_000,
            ..Limits::default()
        }
    }

    async fn open(all: &Arc<Connections>, address: IpAddr) -> Option<Arc<Connection>> {
        let room = all.room().await.expect("room");
        all.open(address, room)
    }

    #[tokio::test]
    async fn an_address_has_few_connections_unless_its_clients_sign_in() {
        let all = Connections::new(8, &limits());
        let first = open(&all, HERE).await.expect("one");
        let _second = open(&all, HERE).await.expect("two");
        assert!(open(&all, HERE).await.is_none());
        assert!(open(&all, [10, 0, 0, 1].into()).await.is_some());
        first.sign_in();
        let third = open(&all, HERE).await.expect("the first counts no more");
        assert!(open(&all, HERE).await.is_none());
        drop(third);
        assert!(open(&all, HERE).await.is_some());
    }

    #[tokio::test]
    async fn clients_that_are_not_signed_in_leave_room_for_those_who_are() {
        let all = Connections::new(4, &limits());
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let mut open = Vec::new();
        for last in 0..3 {
            let room = all.room().await.expect("room");
            open.push(all.open(address(last), room).expect("a connection"));
        }
        assert_eq!(all.anonymous.available_permits(), 0);
        open[0].sign_in();
        assert_eq!(all.anonymous.available_permits(), 1);
        // The room that is kept is used up: who signs in now stays where it is.
        open[1].sign_in();
        assert_eq!(all.anonymous.available_permits(), 1);
        open.clear();
        assert_eq!(all.anonymous.available_permits(), 3);
        assert_eq!(all.signed_in.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_connection_ends_where_nothing_moves() {
        let limits = limits();
        let all = Connections::new(8, &limits);
        let connection = open(&all, HERE).await.expect("one");
        let at = |ms| connection.began + Duration::from_millis(ms);
        assert_eq!(connection.due(at(999), &limits), None);
        assert_eq!(connection.due(at(1_000), &limits), Some(End::Now("header")));
        let request = connection.request();
        assert_eq!(connection.due(at(2_999), &limits), None);
        let soon = Some(End::Soon("anonymous"));
        assert_eq!(connection.due(at(3_000), &limits), soon);
        connection.sign_in();
        assert_eq!(connection.due(at(100_000), &limits), None);
        connection.header(true);
        assert_eq!(connection.due(at(100_000), &limits), None);
        drop(request);
        assert_eq!(connection.due(at(900), &limits), None);
        assert_eq!(connection.due(at(1_100), &limits), Some(End::Now("header")));
        connection.header(false);
        assert_eq!(connection.due(at(9_000), &limits), None);
        assert_eq!(connection.due(at(11_000), &limits), Some(End::Soon("idle")));
    }

    #[tokio::test]
    async fn an_answer_waits_for_its_client_until_it_is_asked_for_more() {
        let limits = limits();
        let all = Connections::new(8, &limits);
        let connection = open(&all, HERE).await.expect("one");
        let at = |ms| connection.began + Duration::from_millis(ms);
        let stalled = Some(End::Now("stalled"));
        connection.sign_in();
        let body = axum::body::Body::from("an answer");
        let mut answer = connection.request().answer(body);
        assert_eq!(connection.due(at(19_000), &limits), None);
        assert_eq!(connection.due(at(21_000), &limits), stalled);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let frame = Pin::new(&mut answer).poll_frame(&mut context);
        assert!(matches!(frame, Poll::Ready(Some(Ok(_)))));
        assert_eq!(connection.due(at(21_000), &limits), stalled);
        let end = Pin::new(&mut answer).poll_frame(&mut context);
        assert!(matches!(end, Poll::Ready(None)));
        assert_eq!(connection.due(at(21_000), &limits), None);
        drop(answer);
        assert_eq!(locked(&connection.state).requests, 0);
    }
}
