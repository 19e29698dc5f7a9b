//! What an exploration is asked for, as it is posted and as it is kept.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use vizard_anonymizer::catalog::exploration::{
    Axes, EngineChoice, Grid, LossAxis, Measures, RefusedSetting, RiskAxis, Setting,
};
use vizard_anonymizer::privacy::PartsRule;
use vizard_anonymizer::release::{AcceptedExact, HierarchyUse};

use super::spec::{JobSpec, PreferenceUse, PublishMode, ReportOptions};
use crate::ids::DatasetId;

/// Releases whose tables are kept, unless somebody says otherwise.
const KEEP_DEFAULT: u32 = 3;
/// Releases whose tables may be kept.
pub const KEEP_MAX: u32 = 20;
/// Seconds, unless somebody says otherwise: an hour.
const SECONDS_DEFAULT: u64 = 3_600;
/// Seconds that may be asked for: a week.
pub const SECONDS_MAX: u64 = 7 * 86_400;

/// An exploration as it is posted: each engine with each combination of the values,
/// on one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplorationSpec {
    /// What people call its jobs and their releases, as for a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// The dataset.
    pub dataset: DatasetId,
    /// Version of its records; the latest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The engines, each with the parameters that all of its settings share.
    #[schema(value_type = Vec<EngineChoiceDocument>, min_items = 1, max_items = 50)]
    pub engines: Vec<EngineChoice>,
    /// Values of `k`, for engines that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub k: Vec<u32>,
    /// Values of `l`, for engines that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub l: Vec<u32>,
    /// Values of `t_closeness`, for engines that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub t: Vec<f64>,
    /// Values of `effort`, for engines that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub effort: Vec<String>,
    /// Releases whose tables are kept as drafts: the best so far. The figures of all
    /// are kept.
    #[serde(default = "keep_default")]
    #[schema(maximum = 20)]
    pub keep: u32,
    /// Seconds after which no setting is begun any more.
    #[serde(default = "seconds_default")]
    #[schema(minimum = 1, maximum = 604_800)]
    pub seconds_max: u64,
    /// What settings are compared by as loss.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(query_error|ncp|fit)$")]
    pub loss: LossAxis,
    /// What they are compared by as risk.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(reidentification_mean|reidentification_max|leakage_mean|leakage_max|inference_lift)$")]
    pub risk: RiskAxis,
    /// Attributes that are published as they are although they identify people,
    /// each with a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub accept_exact: Vec<AcceptedExact>,
    /// What the report of each is to hold.
    #[serde(default)]
    pub report: ReportOptions,
}

/// An engine, and the parameters that all of its settings share.
#[derive(utoipa::ToSchema)]
#[schema(as = EngineChoice)]
#[allow(
    dead_code,
    reason = "describes the anonymizer's type, which knows nothing of OpenAPI"
)]
struct EngineChoiceDocument {
    /// Name of the engine.
    engine: String,
    /// Parameters that are not varied; `GET /v1/engines` describes them.
    #[schema(value_type = Option<Object>, required = false, nullable = false)]
    parameters: Value,
}

fn keep_default() -> u32 {
    KEEP_DEFAULT
}

fn seconds_default() -> u64 {
    SECONDS_DEFAULT
}

impl ExplorationSpec {
    /// What is tried.
    pub fn grid(&self) -> Grid {
        Grid {
            engines: self.engines.clone(),
            k: self.k.clone(),
            l: self.l.clone(),
            t: self.t.clone(),
            effort: self.effort.clone(),
        }
    }

    /// By what settings are compared.
    pub fn axes(&self) -> Axes {
        Axes {
            loss: self.loss,
            risk: self.risk,
        }
    }

    /// The job of a setting.
    pub fn job(&self, setting: &Setting, version: u64) -> JobSpec {
        JobSpec {
            name: self.name.clone(),
            dataset: self.dataset,
            version: Some(version),
            engine: setting.engine.clone(),
            parameters: setting.parameters.clone(),
            preferences: PreferenceUse::Apply,
            publish: PublishMode::Manual,
            seed_given: false,
            accept_exact: self.accept_exact.clone(),
            report: self.report.clone(),
            hierarchies: HierarchyUse::Publish,
            parts: PartsRule::BySize,
            series: None,
            floor_exception: None,
        }
    }
}

/// An exploration as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptExploration {
    /// What was asked.
    pub asked: ExplorationSpec,
    /// Combinations that are not run, with the reasons.
    pub refused: Vec<RefusedSetting>,
}

/// A setting, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SettingOutcome {
    /// Its number, from 1.
    pub setting: u32,
    /// Name of the engine.
    pub engine: String,
    /// The engine's parameters, as they were given.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Where its job stands.
    #[schema(pattern = "^(queued|running|succeeded|failed|cancelled)$")]
    pub state: String,
    /// Why there is no release, without any figure of the records.
    pub problem: Option<String>,
    /// What it loses and what its readers may find.
    #[schema(value_type = Option<MeasuresDocument>)]
    pub measures: Option<Measures>,
    /// The loss that it is compared by; what is left out counts as lost.
    pub loss: Option<f64>,
    /// The risk that it is compared by.
    pub risk: Option<f64>,
}

/// What a release loses and what its readers may find, in a few figures.
#[derive(utoipa::ToSchema)]
#[schema(as = Measures)]
#[allow(
    dead_code,
    reason = "describes the anonymizer's type, which knows nothing of OpenAPI"
)]
struct MeasuresDocument {
    /// Records published.
    records: u64,
    /// Share of records left out for somebody's terms, 0 to 1.
    left_out: f64,
    /// NCP, the mean over quasi-identifier cells, 0 to 1.
    #[schema(required = false, nullable = false)]
    ncp: Option<f64>,
    /// Mean of |estimate − actual| / actual over random counting queries.
    #[schema(required = false, nullable = false)]
    query_error: Option<f64>,
    /// Mean of (upper − lower) / actual over the same queries.
    #[schema(required = false, nullable = false)]
    query_range: Option<f64>,
    /// How far the statistic that `report.fit` names may be from the original's: the
    /// difference without its sign, and its step.
    #[schema(required = false, nullable = false)]
    fit: Option<f64>,
    /// Largest probability that a record of a group is a person's.
    #[schema(required = false, nullable = false)]
    reidentification_max: Option<f64>,
    /// Its mean over records.
    #[schema(required = false, nullable = false)]
    reidentification_mean: Option<f64>,
    /// Largest probability of a person's own sensitive value.
    #[schema(required = false, nullable = false)]
    leakage_max: Option<f64>,
    /// Its mean over people.
    #[schema(required = false, nullable = false)]
    leakage_mean: Option<f64>,
    /// How much more often models guess a sensitive value that learned from the
    /// release than models that know the population; the largest over attributes.
    #[schema(required = false, nullable = false)]
    inference_lift: Option<f64>,
}

impl SettingOutcome {
    /// A setting with its figures on these axes.
    pub fn of(setting: Setting, state: JobState, measures: Option<Measures>, axes: Axes) -> Self {
        Self {
            setting: setting.number,
            engine: setting.engine,
            parameters: setting.parameters,
            state: state.into(),
            problem: None,
            loss: measures
                .as_ref()
                .and_then(|measures| axes.loss.of(measures)),
            risk: measures
                .as_ref()
                .and_then(|measures| axes.risk.of(measures)),
            measures,
        }
    }
}

/// The word of a job's state.
type JobState = &'static str;

/// Why a loss would be measured of no setting: then nothing could be compared.
pub fn not_measured(loss: LossAxis, report: &ReportOptions) -> Option<&'static str> {
    match loss {
        LossAxis::QueryError if report.queries == 0 => {
            Some("the loss query_error needs report.queries above 0")
        }
        LossAxis::Fit if report.fit.is_none() => {
            Some("the loss fit needs report.fit, the statistic that it is the difference of")
        }
        _ => None,
    }
}

/// Numbers and figures of settings.
pub fn figures(outcomes: &[SettingOutcome]) -> Vec<(u32, Measures)> {
    let of = |one: &SettingOutcome| Some((one.setting, one.measures?));
    outcomes.iter().filter_map(of).collect()
}
