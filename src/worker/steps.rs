//! The steps of one attempt at a job, as spans and as times.
//!
//! admit (waiting for memory) → load → run → encode → verify → measure →
//! commit. Each step is a span below the job's own, and an observation of the
//! histogram of steps. A step ends
//! where the next one begins, or where the attempt ends; one that failed is
//! told as well, for a slow failure is what one looks for.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tracing::Span;
use vizard_anonymizer::catalog::{Observer, Stage};

use crate::store::JobRow;
use crate::telemetry::{TRACE_TARGET, root_of_job};

/// Tells the steps of one attempt. A clone tells of the same attempt.
#[derive(Clone)]
pub struct Steps(Arc<Attempt>);

struct Attempt {
    engine: String,
    root: Span,
    current: Mutex<Option<Step>>,
}

struct Step {
    name: &'static str,
    began: Instant,
    /// Ends when it is dropped.
    _span: Span,
}

impl Steps {
    /// Begins the attempt's trace.
    pub fn of(job: &JobRow) -> Self {
        let root = tracing::info_span!(
            target: TRACE_TARGET,
            "job",
            otel.kind = "consumer",
            vizard.job = %job.id,
            vizard.engine = job.engine,
            vizard.attempt = job.attempts,
            vizard.outcome = tracing::field::Empty,
        );
        root_of_job(&root, job.id.uuid(), job.attempts);
        Self(Arc::new(Attempt {
            engine: job.engine.clone(),
            root,
            current: Mutex::default(),
        }))
    }

    /// Ends the step before and begins this one.
    pub fn begin(&self, name: &'static str) {
        let span = tracing::info_span!(
            target: TRACE_TARGET,
            parent: &self.0.root,
            "step",
            otel.name = name,
        );
        self.0.follow(Some(Step {
            name,
            began: Instant::now(),
            _span: span,
        }));
    }

    /// Ends the attempt.
    pub fn finish(&self, outcome: &'static str) {
        self.0.root.record("vizard.outcome", outcome);
        self.0.follow(None);
    }
}

impl Attempt {
    /// Ends the step that runs; `next` runs from now on.
    fn follow(&self, next: Option<Step>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::replace(&mut *current, next);
        if let Some(step) = ended {
            let labels = [("engine", self.engine.clone()), ("step", step.name.into())];
            metrics::histogram!("vizard_job_step_duration_seconds", &labels)
                .record(step.began.elapsed().as_secs_f64());
        }
    }
}

impl Observer for Steps {
    fn begins(&mut self, stage: Stage) {
        self.begin(match stage {
            Stage::Engine => "run",
            Stage::Encode => "encode",
            Stage::Verify => "verify",
            Stage::Report => "measure",
        });
    }
}
