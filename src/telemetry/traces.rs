//! Traces, sent by OTLP over HTTP where an endpoint is configured.
//!
//! Spans are `tracing` spans of one target, [`TRACE_TARGET`]; nothing else
//! leaves the process this way, no log line and no span of another crate. A
//! request's span continues the trace that its `traceparent` header names. A
//! job is a trace of its own (`job_trace`).
//!
//! The exporter's HTTP client blocks, and brings a small runtime of its own:
//! it is built before our runtime starts and shut down after it ended
//! ([`Traces::shut_down`]). Without an endpoint nothing of this is built.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::job_trace::{Ids, KeepJobs};

/// Target of the spans that are exported, and of nothing else.
pub const TRACE_TARGET: &str = "vizard::trace";

/// How long the last spans may take to leave when the process ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Where traces go, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSettings {
    /// Base URL of the collector; `/v1/traces` is added. `None`: the standard
    /// `OTEL_EXPORTER_OTLP_…` variables say where.
    pub endpoint: Option<String>,
    /// Share of the requests' traces that is kept, 0 to 1, unless the caller
    /// has decided already.
    pub ratio: f64,
    /// Name of the service, unless `OTEL_SERVICE_NAME` has another.
    pub service_name: Option<String>,
}

/// The way out for spans.
pub struct Traces(SdkTracerProvider);

/// The exporter could not be built.
#[derive(Debug, thiserror::Error)]
#[error("traces cannot be exported: {0}")]
pub struct TraceError(#[from] ExporterBuildError);

impl Traces {
    /// Builds the exporter. Call it before a runtime is started: its client blocks.
    pub fn start(settings: &TraceSettings) -> Result<Self, TraceError> {
        let mut exporter = SpanExporter::builder().with_http();
        if let Some(endpoint) = &settings.endpoint {
            let endpoint = endpoint.trim_end_matches('/');
            exporter = exporter.with_endpoint(format!("{endpoint}/v1/traces"));
        }
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let mut resource = Resource::builder().with_attribute(version);
        if let Some(name) = &settings.service_name {
            resource = resource.with_service_name(name.clone());
        }
        let sampler = Sampler::TraceIdRatioBased(settings.ratio);
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter.build()?)
            .with_id_generator(Ids::default())
            .with_sampler(Sampler::ParentBased(Box::new(KeepJobs(sampler))))
            .with_resource(resource.build())
            .build();
        Ok(Self(provider))
    }

    /// The layer that takes our spans.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("vizard"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_filter(filter_fn(|metadata| {
                metadata.is_span() && metadata.target() == TRACE_TARGET
            }))
    }

    /// Sends what is left. Call it after the runtime has ended.
    pub fn shut_down(self) {
        if self.0.shutdown_with_timeout(SHUTDOWN_TIMEOUT).is_err() {
            tracing::warn!("the last traces could not be sent");
        }
    }
}

/// Makes `span` part of the trace that a request's `traceparent` names.
///
/// `tracestate` is not looked at: it is free text, and would leave with the span.
pub fn continue_trace(span: &Span, traceparent: Option<&str>) {
    let context = TraceContextPropagator::new().extract(&Parent(traceparent));
    if context.span().span_context().is_valid() {
        // Fails where nothing is exported: then there is nothing to do.
        let _ = span.set_parent(context);
    }
}

/// The one header of a request that is read.
struct Parent<'h>(Option<&'h str>);

impl Extractor for Parent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.filter(|_| key == "traceparent")
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// The id of the span's trace, where traces are exported.
pub fn trace_id(span: &Span) -> Option<String> {
    let context = span.context();
    let span = context.span();
    let ids = span.span_context();
    ids.is_valid().then(|| ids.trace_id().to_string())
}
