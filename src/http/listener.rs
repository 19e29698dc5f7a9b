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
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::connection::{Connection, Connections, End};
use super::framing::Framed;
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
/// Connections that watch the service at the same time.
const OBSERVERS_MAX: u64 = 64;
/// Bytes of one answer that the HTTP library takes before the client does.
const ANSWER_BYTES_WAITING_MAX: usize = 64 << 10;
/// Least room that the HTTP library takes for a header, in bytes.
const HEADER_ROOM_MIN: usize = 8 << 10;

/// Serves the API until the state's `shutdown` token is cancelled, then drains.
///
/// Returns when all connections have ended or the drain limit is over.
pub async fn serve(listener: TcpListener, state: AppState) {
    let server = Server::new(&state, router(state.clone()), state.tls.clone());
    let limits = &state.settings.limits;
    let connections = Connections::new(limits.connections_max, limits);
    accept(listener, state, server, connections).await;
}

/// Serves health, readiness and metrics alone, without TLS, as `serve` does.
/// Its connections are its own: a flood of clients leaves it open.
pub async fn serve_observation(listener: TcpListener, state: AppState) {
    let server = Server::new(&state, observation_router(state.clone()), None);
    let connections = Connections::new(OBSERVERS_MAX, &state.settings.limits);
    accept(listener, state, server, connections).await;
}

async fn accept(
    listener: TcpListener,
    state: AppState,
    server: Server,
    connections: Arc<Connections>,
) {
    let open = TaskTracker::new();
    let shutdown = state.shutdown.clone();
    tokio::spawn(super::idempotency::sweep(
        Arc::clone(&state.store),
        state.settings.idempotency_retention_s,
        shutdown.clone(),
    ));
    tokio::spawn(super::refusals::keep(
        Arc::clone(&state.gate.refusals),
        Arc::clone(&state.store),
        shutdown.clone(),
    ));
    loop {
        let next = async { (connections.room().await, listener.accept().await) };
        let (room, accepted) = tokio::select! {
            () = shutdown.cancelled() => break,
            next = next => next,
        };
        match (room, accepted) {
            (Some(room), Ok((stream, address))) => match connections.open(address.ip(), room) {
                Some(connection) => {
                    let guest = Guest {
                        address: address.ip(),
                        connection,
                        shutdown: shutdown.clone(),
                    };
                    open.spawn(server.clone().connection(stream, guest));
                }
                None => cut("address"),
            },
            (Some(_), Err(error)) => {
                tracing::warn!(error = %error.kind(), "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            (None, _) => break,
        }
    }
    drop(listener);
    open.close();
    let drained = tokio::time::timeout(state.settings.drain_timeout(), open.wait()).await;
    if drained.is_err() {
        tracing::warn!("requests were cut off: the drain limit is over");
    }
    state.gate.refusals.write(&state.store).await;
}

/// Who is at the other end, and what ends the connection.
struct Guest {
    address: IpAddr,
    connection: Arc<Connection>,
    shutdown: CancellationToken,
}

#[derive(Clone)]
struct Server {
    http: auto::Builder<TokioExecutor>,
    router: Router,
    tls: Option<Tls>,
    limits: Limits,
    /// Bytes of a header at which the reading ends.
    header_bytes: usize,
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
            // The library counts from the end of the request before, so that a
            // kept connection could not be idle for longer: `Framed` sees the
            // first byte, `due` looks at the time.
            .header_read_timeout(None);
        http.http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(STREAMS_MAX)
            .max_send_buf_size(ANSWER_BYTES_WAITING_MAX)
            .keep_alive_interval(PING_INTERVAL);
        Self {
            http,
            router,
            tls,
            limits,
            header_bytes,
        }
    }

    async fn connection(self, stream: TcpStream, guest: Guest) {
        // Small answers must not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let http = self.http.clone();
        let opened = tokio::select! {
            opened = tokio::time::timeout(self.limits.header_timeout(), self.open(stream)) => opened,
            () = guest.shutdown.cancelled() => return,
        };
        match opened {
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
        let Guest {
            address,
            connection,
            shutdown,
        } = guest;
        let (router, at) = (self.router.clone(), Arc::clone(&connection));
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let begun = at.request();
            let (request, remainder) = lend(request);
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(RemoteAddress(address));
            request.extensions_mut().insert(Arc::clone(&at));
            let answer = router.clone().oneshot(request);
            async move {
                let answer = remainder.settle(answer.await?).await;
                Ok::<_, Infallible>(answer.map(|body| begun.answer(body)))
            }
        });
        let stream = Lingering::new(stream, Arc::clone(&connection), &self.limits);
        let stream = Framed::new(stream, Arc::clone(&connection), self.header_bytes);
        let serving = http
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        self.until_end(serving, &connection, &shutdown).await;
        open.decrement(1);
    }

    /// Serves a connection until it ends, or has to.
    async fn until_end<C>(&self, serving: C, connection: &Connection, shutdown: &CancellationToken)
    where
        C: GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut serving = pin!(serving);
        let mut due = pin!(self.due(connection));
        let (mut is_ending, mut deadline) = (false, None);
        loop {
            let too_long = async {
                match deadline {
                    Some((at, reason)) => {
                        tokio::time::sleep_until(at).await;
                        reason
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ended = serving.as_mut() => {
                    if ended.is_err() {
                        tracing::debug!("a connection broke off");
                    }
                    return;
                }
                end = due.as_mut(), if deadline.is_none() => match end {
                    End::Now(reason) => return cut(reason),
                    End::Soon(reason) => {
                        let grace = self.limits.header_timeout();
                        deadline = Some((Instant::now() + grace, reason));
                        serving.as_mut().graceful_shutdown();
                    }
                },
                reason = too_long => return cut(reason),
                () = shutdown.cancelled(), if !is_ending => {
                    is_ending = true;
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }

    /// Waits until a connection has to end.
    async fn due(&self, connection: &Connection) -> End {
        let interval = Connection::look_interval(&self.limits);
        loop {
            tokio::time::sleep(interval).await;
            if let Some(end) = connection.due(Instant::now(), &self.limits) {
                return end;
            }
        }
    }
}

/// Notes that a connection was closed because its client did not go on.
fn cut(reason: &'static str) {
    metrics::counter!("vizard_http_connections_cut_total", "reason" => reason).increment(1);
}
