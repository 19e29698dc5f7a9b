//! Traces: a real server, a collector of our own, and what arrives there.

use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::api::story;
use crate::common::collector::Collector;
use crate::common::program::{Program, key};

fn text<'s>(span: &'s Span, name: &str) -> Option<&'s str> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        AnyValue::StringValue(text) => Some(text),
        _ => None,
    }
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
    spans
        .iter()
        .find(|span| span.name == name)
        .unwrap_or_else(|| panic!("{name} in {names:?}"))
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_and_the_steps_of_jobs_arrive_and_hold_nothing_personal() {
    let collector = Collector::start().await;
    let environment = [
        ("OTEL_SERVICE_NAME", "vizard-of-ward-7"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "x-collector-key=a-collector-key",
        ),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ("VIZARD_LOG_JSON", "true"),
    ];
    let server = Program::serve(&["--otlp-endpoint", &collector.url], &environment);
    let client = server.client();
    let everyone = key(&client, &["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&everyone).await;
    let job = story::queue(&everyone, &story::job(&dataset)).await;
    story::ended(&everyone, &job).await;
    let hierarchy = everyone.call("get_hierarchy").at("name", "canary-7731");
    let asked = hierarchy
        .header("traceparent", PARENT)
        .header("tracestate", "canary=canary-7732");
    assert_eq!(asked.send().await.status, 404);
    let (status, lines) = server.terminate();
    assert!(status.success());

    let spans = collector.spans();
    let queued = named(&spans, "POST /v1/jobs");
    assert_eq!(queued.kind(), SpanKind::Server);
    assert_eq!(text(queued, "http.route"), Some("/v1/jobs"));
    // The trace of a job is the job's id.
    let id = uuid::Uuid::parse_str(job.trim_start_matches("job_")).expect("an id");
    let root = named(&spans, "job");
    assert_eq!(root.trace_id, id.as_bytes());
    assert_eq!(text(root, "vizard.job"), Some(job.as_str()));
    assert_eq!(text(root, "vizard.outcome"), Some("succeeded"));
    assert!(root.parent_span_id.is_empty());
    let link = &queued.links[0];
    assert_eq!(
        (&link.trace_id, &link.span_id),
        (&root.trace_id, &root.span_id)
    );
    for step in [
        "admit", "load", "run", "encode", "verify", "measure", "commit",
    ] {
        let span = named(&spans, step);
        assert_eq!(
            (&span.trace_id, &span.parent_span_id),
            (&root.trace_id, &root.span_id)
        );
    }
    // A caller's trace goes on here, and the log names it.
    let asked = named(&spans, "GET /v1/hierarchies/{name}");
    assert_eq!(hex(&asked.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&asked.parent_span_id), "b7ad6b7169203331");
    let line = "\"trace\":\"0af7651916cd43dd8448eb211c80319c\"";
    assert!(lines.iter().any(|said| said.contains(line)));
    for (headers, body) in collector.bodies() {
        assert_eq!(headers["x-collector-key"], "a-collector-key");
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(body.contains("vizard-of-ward-7"));
        for secret in ["canary", "patient", "violet", "Bearer", "vz_"] {
            assert!(!body.contains(secret), "{secret}");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_share_of_nothing_keeps_jobs_and_what_callers_want_kept() {
    let collector = Collector::start().await;
    let arguments = ["--otlp-endpoint", &collector.url, "--trace-ratio", "0"];
    let server = Program::serve(&arguments, &[]);
    let client = server.client();
    let everyone = key(&client, &["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&everyone).await;
    story::release(&everyone, &story::job(&dataset)).await;
    let asked = everyone.call("list_engines").header("traceparent", PARENT);
    assert_eq!(asked.send().await.status, 200);
    assert!(server.terminate().0.success());
    let spans = collector.spans();
    named(&spans, "job");
    named(&spans, "commit");
    let requests: Vec<_> = spans
        .iter()
        .filter(|span| span.kind() == SpanKind::Server)
        .collect();
    assert_eq!(requests.len(), 1, "{requests:#?}");
    assert_eq!(requests[0].name, "GET /v1/engines");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_holds_nothing_up() {
    let arguments = [
        "--otlp-endpoint",
        "http://127.0.0.1:9",
        "--drain-timeout",
        "1",
    ];
    let server = Program::serve(&arguments, &[]);
    server.client().call("get_health").send().await.expect(200);
    let begin = Instant::now();
    assert!(server.terminate().0.success());
    assert!(
        begin.elapsed() < Duration::from_secs(15),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_endpoint_nothing_is_sent_and_the_standard_one_is_known() {
    let collector = Collector::start().await;
    let standard = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    let off = [standard, ("OTEL_SDK_DISABLED", "true")];
    for (environment, is_sent) in [(&[][..], false), (&off, false), (&[standard], true)] {
        let server = Program::serve(&[], environment);
        server.client().call("get_health").send().await.expect(200);
        assert!(server.terminate().0.success());
        assert_eq!(!collector.bodies().is_empty(), is_sent);
    }
}
