//! The accept loop.
//!
//! `axum::serve` sets no timer on headers and never ends while an event
//! stream is open; so connections are served by hyper-util's builder here. A
//! connection must send its first byte and every header in time, there are
//! only so many at once, and a stop lets what runs finish until the drain
//! limit. Event streams end by themselves on the state's `shutdown` token.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

use super::router::router;
use super::state::AppState;

/// Requests that one HTTP/2 connection may have open.
const STREAMS_MAX: u32 = 64;
/// Silence after which an HTTP/2 connection is asked whether it is alive.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Pause after the system refused a connection: it is out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until the state's `shutdown` token is cancelled, then drains.
///
/// Returns when all connections have ended or the drain limit is over.
pub async fn serve(listener: TcpListener, state: AppState) {
    let connections = Arc::new(Semaphore::new(state.settings.limits.connections_max));
    let server = Server::new(&state);
    let graceful = GracefulShutdown::new();
    let shutdown = state.shutdown.clone();
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
            (Ok(permit), Ok((stream, _))) => {
                let server = server.clone();
                tokio::spawn(server.connection(stream, graceful.watcher(), permit));
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

#[derive(Clone)]
struct Server {
    http: auto::Builder<TokioExecutor>,
    router: Router,
    header_timeout: Duration,
}

impl Server {
    fn new(state: &AppState) -> Self {
        let header_timeout = state.settings.limits.header_timeout();
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(header_timeout);
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .keep_alive_interval(PING_INTERVAL);
        Self {
            http,
            router: router(state.clone()),
            header_timeout,
        }
    }

    async fn connection(self, stream: TcpStream, watcher: Watcher, _permit: OwnedSemaphorePermit) {
        // Telling HTTP/1 from HTTP/2 waits for the first bytes without a timer.
        let mut byte = [0_u8];
        let first_byte = stream.peek(&mut byte);
        match tokio::time::timeout(self.header_timeout, first_byte).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
        // Small answers must not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let open = metrics::gauge!("vizard_http_connections");
        open.increment(1);
        let router = self.router;
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            router.clone().oneshot(request.map(Body::new))
        });
        let connection = self
            .http
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        if watcher.watch(connection).await.is_err() {
            tracing::debug!("a connection broke off");
        }
        open.decrement(1);
    }
}
