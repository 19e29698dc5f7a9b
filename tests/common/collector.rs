//! A collector of traces: takes them by OTLP over HTTP and keeps them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

/// Takes spans as a collector does.
pub struct Collector {
    /// Base URL.
    pub url: String,
    bodies: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl Collector {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let bodies = Arc::<Mutex<Vec<_>>>::default();
        let kept = Arc::clone(&bodies);
        let take = move |headers: HeaderMap, body: Bytes| {
            kept.lock().expect("no panic").push((headers, body));
            std::future::ready(())
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().route("/v1/traces", post(take));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, bodies }
    }

    /// All bodies so far, as they came.
    pub fn bodies(&self) -> Vec<(HeaderMap, Bytes)> {
        self.bodies.lock().expect("no panic").clone()
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let bodies = self.bodies().into_iter();
        bodies
            .map(|(headers, body)| {
                assert_eq!(headers["content-type"], "application/x-protobuf");
                ExportTraceServiceRequest::decode(body).expect("spans")
            })
            .collect()
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let requests = self.requests().into_iter();
        let of_scopes = requests
            .flat_map(|request| request.resource_spans)
            .flat_map(|resource| resource.scope_spans);
        of_scopes.flat_map(|scope| scope.spans).collect()
    }
}
