//! The trace of a job, known by the job's id alone.
//!
//! A job runs when its request has long been answered, and often in another
//! process: nothing but the store connects the two. So the ids are not handed
//! over but derived: the trace of a job has the job's id (both are 16 bytes),
//! its first span the second half of it. The request that queued the job can
//! link to a span that nobody has begun yet, and anyone who reads `job_0199…` in
//! a log finds the trace by dropping prefix and hyphens.
//!
//! Jobs are few and long: their traces are all kept, whatever share of the
//! requests is.

use std::cell::Cell;

use opentelemetry::trace::{Link, SpanContext, SpanId, SpanKind, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{
    IdGenerator, RandomIdGenerator, Sampler, SamplingDecision, SamplingResult, ShouldSample,
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::Uuid;

thread_local! {
    /// Ids of the root span that is being begun on this thread.
    static NEXT: Cell<Option<(TraceId, Option<SpanId>)>> = const { Cell::new(None) };
}

/// Random ids, but for the root span of a job.
#[derive(Debug, Default)]
pub(super) struct Ids(RandomIdGenerator);

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        match NEXT.get() {
            Some((trace, _)) => trace,
            None => self.0.new_trace_id(),
        }
    }

    fn new_span_id(&self) -> SpanId {
        match NEXT.get() {
            Some((_, Some(span))) => span,
            _ => self.0.new_span_id(),
        }
    }
}

/// Keeps every job, and of what begins here otherwise a share.
#[derive(Clone, Debug)]
pub(super) struct KeepJobs(pub(super) Sampler);

impl ShouldSample for KeepJobs {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        if NEXT.get().is_some_and(|(job, _)| job == trace) {
            return SamplingResult {
                decision: SamplingDecision::RecordAndSample,
                attributes: Vec::new(),
                trace_state: TraceState::NONE,
            };
        }
        let otherwise = &self.0;
        otherwise.should_sample(parent, trace, name, kind, attributes, links)
    }
}

/// Trace and first span of a job: its id, and the second half of its id.
fn ids_of(job: Uuid) -> (TraceId, SpanId) {
    let bytes = job.into_bytes();
    let mut half = [0; 8];
    half.copy_from_slice(&bytes[8..]);
    (TraceId::from_bytes(bytes), SpanId::from_bytes(half))
}

/// Makes `span` the root of the job's trace. Later attempts are further roots
/// of the same trace; the first is the one that the request links to.
pub fn root_of_job(span: &Span, job: Uuid, attempt: u32) {
    let (trace, first) = ids_of(job);
    // Fails where nothing is exported: then there is nothing to do.
    if span.set_parent(Context::new()).is_ok() {
        NEXT.set(Some((trace, (attempt <= 1).then_some(first))));
        // Asking for the context begins the span.
        let _ = span.context();
        NEXT.set(None);
    }
}

/// Links `span` to the trace of the job that it queued.
pub fn link_job(span: &Span, job: Uuid) {
    let (trace, first) = ids_of(job);
    let kept = TraceFlags::SAMPLED;
    span.add_link(SpanContext::new(trace, first, kept, true, TraceState::NONE));
}
