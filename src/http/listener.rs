//! The accept loop.
//!
//! `axum::serve` sets no timer on headers and never ends while an event
//! stream is open; so connections are served by hyper-util's builder here. A
//! connection must send its first byte and every header in time, there are
//! only so many at once, and a stop lets what runs finish until the drain
//! limit. Event streams end by themselves on the state's `shutdown` token.
//! With TLS the handshake is under the same timer, and the protocol is what
//! client and server agreed on in it. How a connection ends whose body was not
//! wanted is in `remainder` and `linger`.
//!
//! A second listener may serve health and metrics alone, without TLS: for
//! those who watch the service from a network that clients cannot reach.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::server::TlsStream;
use tower::ServiceExt;

use super::linger::Lingering;
use super::remainder::lend;
use super::router::{observation_router, router};
use super::state::AppState;
use super::throttle::RemoteAddress;
use super::tls::Tls;
use crate::config::Limits;

/// Requests that one HTTP/2 connection may have open.
const STREAMS_MAX: u32 = 64;
/// Silence after which an HTTP/2 connection is asked whether it is alive.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Pause after the system refused a connection: it is out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Least room that the HTTP library takes for a header, in bytes.
const HEADER_ROOM_MIN: usize = 8 << 10;

/// Serves the API until the state's `shutdown` token is cancelled, then drains.
///
/// Returns when all connections have ended or the drain limit is over.
pub async fn serve(listener: TcpListener, state: AppState) {
    let server = Server::new(&state, router(state.clone()), state.tls.clone());
    accept(listener, state, server).await;
}

/// Serves health, readiness and metrics alone, without TLS, as `serve` does.
pub async fn serve_observation(listener: TcpListener, state: AppState) {
    let server = Server::new(&state, observation_router(state.clone()), None);
    accept(listener, state, server).await;
}

async fn accept(listener: TcpListener, state: AppState, server: Server) {
    let connections = permits(state.settings.limits.connections_max);
    let connections = Arc::new(Semaphore::new(connections));
    let graceful = GracefulShutdown::new();
    let shutdown = state.shutdown.clone();
    tokio::spawn(super::idempotency::sweep(state.clone()));
    loop {
        let next = async {
            let permit = Arc::clone(&connections).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = shutdown.cancelled() => break,
            next = next => next,
        };
        match (permit, accepted) {
            (Ok(place), Ok((stream, address))) => {
                let server = server.clone();
                let guest = Guest {
                    address: address.ip(),
                    place,
                    watcher: graceful.watcher(),
                };
                tokio::spawn(server.connection(stream, guest));
            }
            (Ok(_), Err(error)) => {
                tracing::warn!(error = %error.kind(), "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            // The semaphore is never closed; without it there is no service.
            (Err(_), _) => break,
        }
    }
    drop(listener);
    let drained = tokio::time::timeout(state.settings.drain_timeout(), graceful.shutdown()).await;
    if drained.is_err() {
        tracing::warn!("requests were cut off: the drain limit is over");
    }
}

/// As many permits as a limit says, or as a semaphore can have.
pub(super) fn permits(limit: u64) -> usize {
    usize::try_from(limit).map_or(Semaphore::MAX_PERMITS, |limit| {
        limit.min(Semaphore::MAX_PERMITS)
    })
}

/// Who is at the other end, and what the end of the connection gives back.
struct Guest {
    address: IpAddr,
    place: OwnedSemaphorePermit,
    watcher: Watcher,
}

#[derive(Clone)]
struct Server {
    http: auto::Builder<TokioExecutor>,
    router: Router,
    tls: Option<Tls>,
    limits: Limits,
}

/// A connection whose client has said something.
enum Opened {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Server {
    fn new(state: &AppState, router: Router, tls: Option<Tls>) -> Self {
        let limits = state.settings.limits;
        // The exact limits are held by `header`, with an answer that says so;
        // twice as much ends the reading.
        let twice = |limit: u64| usize::try_from(limit.saturating_mul(2)).unwrap_or(usize::MAX);
        let header_bytes = twice(limits.header_bytes_max).max(HEADER_ROOM_MIN);
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .max_headers(twice(limits.header_fields_max))
            .max_buf_size(header_bytes)
            .header_read_timeout(limits.header_timeout());
        http.http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(STREAMS_MAX)
            .keep_alive_interval(PING_INTERVAL);
        Self {
            http,
            router,
            tls,
            limits,
        }
    }

    async fn connection(self, stream: TcpStream, guest: Guest) {
        // Small answers must not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let http = self.http.clone();
        match tokio::time::timeout(self.limits.header_timeout(), self.open(stream)).await {
            Ok(Some(Opened::Plain(stream))) => self.speak(http, stream, guest).await,
            Ok(Some(Opened::Encrypted(stream))) => {
                let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let http = if is_h2 {
                    http.http2_only()
                } else {
                    http.http1_only()
                };
                self.speak(http, stream, guest).await;
            }
            Ok(None) => {}
            Err(_) => cut("silent"),
        }
    }

    /// Waits for the handshake where there is one, and for the first byte:
    /// telling HTTP/1 from HTTP/2 waits for it without a timer. `None` where
    /// the client went away or cannot agree with us.
    async fn open(&self, stream: TcpStream) -> Option<Opened> {
        let Some(tls) = &self.tls else {
            let mut byte = [0_u8];
            let read = stream.peek(&mut byte).await.ok()?;
            return (read > 0).then_some(Opened::Plain(stream));
        };
        let mut stream = tls.acceptor().accept(stream).await.ok()?;
        let is_open = !stream.fill_buf().await.ok()?.is_empty();
        is_open.then(|| Opened::Encrypted(Box::new(stream)))
    }

    async fn speak<S>(&self, http: auto::Builder<TokioExecutor>, stream: S, guest: Guest)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let open = metrics::gauge!("vizard_http_connections");
        open.increment(1);
        let router = self.router.clone();
        let requested = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&requested);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            seen.store(true, Ordering::Relaxed);
            let (request, remainder) = lend(request);
            let mut request = request.map(Body::new);
            request
                .extensions_mut()
                .insert(RemoteAddress(guest.address));
            let answer = router.clone().oneshot(request);
            async move { Ok::<_, Infallible>(remainder.settle(answer.await?).await) }
        });
        let stream = Lingering::new(stream, guest.place, &self.limits);
        let connection = http
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        // Half a preface of HTTP/2 stops no timer of hyper's: ours is the first request.
        let silence = async {
            tokio::time::sleep(self.limits.header_timeout()).await;
            if requested.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = guest.watcher.watch(connection) => if let Err(error) = ended {
                match error.downcast_ref::<hyper::Error>() {
                    Some(error) if error.is_timeout() => cut("header"),
                    _ => tracing::debug!("a connection broke off"),
                }
            },
            () = silence => cut("header"),
        }
        open.decrement(1);
    }
}

/// Notes that a connection was closed because its client did not go on.
fn cut(reason: &'static str) {
    metrics::counter!("vizard_http_connections_cut_total", "reason" => reason).increment(1);
}
