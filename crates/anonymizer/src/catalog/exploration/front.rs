//! The front: settings that no other one beats in loss and in risk.
//!
//! A setting beats another if neither its loss nor its risk is larger and one of
//! them is smaller. Records that a setting leaves out count as lost: else the one
//! that publishes almost nobody would look best.

use serde::{Deserialize, Serialize};

use super::measures::Measures;

/// What is compared as loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossAxis {
    /// Mean relative error of random counting queries.
    #[default]
    QueryError,
    /// NCP; not every kind of release has it.
    Ncp,
    /// How far the statistic that the job names is from the original's.
    Fit,
}

/// What is compared as risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskAxis {
    /// Mean probability that a record of a person's group is theirs.
    ReidentificationMean,
    /// Its maximum.
    #[default]
    ReidentificationMax,
    /// Mean probability of a person's own sensitive value.
    LeakageMean,
    /// Its maximum.
    LeakageMax,
    /// What models learn from the release beyond the population.
    InferenceLift,
}

impl LossAxis {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::QueryError, Self::Ncp, Self::Fit];

    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QueryError => "query_error",
            Self::Ncp => "ncp",
            Self::Fit => "fit",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::QueryError => "query error",
            Self::Ncp => "NCP",
            Self::Fit => "difference of the statistic",
        }
    }

    /// The loss of a setting: what is published loses so much, and what is left
    /// out is lost.
    pub fn of(self, measures: &Measures) -> Option<f64> {
        let left_out = measures.left_out;
        match self {
            // A count misses the share that is left out.
            Self::QueryError => measures.query_error.map(|error| error + left_out),
            Self::Ncp => measures.ncp.map(|ncp| ncp + (1.0 - ncp) * left_out),
            // In units of its own, to which a share cannot be added.
            Self::Fit => measures
                .fit
                .filter(|_| left_out < 1.0)
                .map(|fit| fit / (1.0 - left_out)),
        }
    }
}

impl RiskAxis {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ReidentificationMean,
        Self::ReidentificationMax,
        Self::LeakageMean,
        Self::LeakageMax,
        Self::InferenceLift,
    ];

    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReidentificationMean => "reidentification_mean",
            Self::ReidentificationMax => "reidentification_max",
            Self::LeakageMean => "leakage_mean",
            Self::LeakageMax => "leakage_max",
            Self::InferenceLift => "inference_lift",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ReidentificationMean => "mean re-identification risk",
            Self::ReidentificationMax => "largest re-identification risk",
            Self::LeakageMean => "mean leakage",
            Self::LeakageMax => "largest leakage",
            Self::InferenceLift => "lift of inference",
        }
    }

    /// The risk of a setting.
    pub fn of(self, measures: &Measures) -> Option<f64> {
        match self {
            Self::ReidentificationMean => measures.reidentification_mean,
            Self::ReidentificationMax => measures.reidentification_max,
            Self::LeakageMean => measures.leakage_mean,
            Self::LeakageMax => measures.leakage_max,
            Self::InferenceLift => measures.inference_lift,
        }
    }
}

/// By what settings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// The loss.
    #[serde(default)]
    pub loss: LossAxis,
    /// The risk.
    #[serde(default)]
    pub risk: RiskAxis,
}

impl Axes {
    /// Loss and risk of a setting; `None` where it lacks one.
    pub fn of(self, measures: &Measures) -> Option<[f64; 2]> {
        Some([self.loss.of(measures)?, self.risk.of(measures)?])
    }
}

/// A setting by its number, with loss and risk.
type Point = (u32, [f64; 2]);

fn points(settings: &[(u32, Measures)], axes: Axes) -> Vec<Point> {
    let of = |(number, measures): &(u32, Measures)| Some((*number, axes.of(measures)?));
    let mut points: Vec<Point> = settings.iter().filter_map(of).collect();
    points.sort_by(|(one, [loss, risk]), (other, [other_loss, other_risk])| {
        let by_loss = loss.total_cmp(other_loss);
        by_loss
            .then(risk.total_cmp(other_risk))
            .then(one.cmp(other))
    });
    points
}

/// Numbers of the settings that no other one beats, by growing loss. Of settings
/// that are alike in both the first stands for all.
pub fn front(settings: &[(u32, Measures)], axes: Axes) -> Vec<u32> {
    let numbers = on_front(settings, axes).into_iter();
    numbers.map(|(number, _)| number).collect()
}

fn on_front(settings: &[(u32, Measures)], axes: Axes) -> Vec<Point> {
    let mut front: Vec<Point> = Vec::new();
    for point in points(settings, axes) {
        // By growing loss: only less risk is not beaten.
        let least = front.last().map_or(f64::INFINITY, |(_, [_, risk])| *risk);
        if point.1[1] < least {
            front.push(point);
        }
    }
    front
}

/// At most so many numbers of the front, those first that are nearest to the
/// point of least loss and least risk on it, where the front is one long in both.
pub fn best(settings: &[(u32, Measures)], axes: Axes, most: usize) -> Vec<u32> {
    let front = on_front(settings, axes);
    let range = |axis: usize| {
        let figures = front.iter().map(|(_, figures)| figures[axis]);
        let (low, high) = figures.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| {
            (low.min(one), high.max(one))
        });
        (low, (high - low).max(f64::MIN_POSITIVE))
    };
    let ranges = [range(0), range(1)];
    let distance = |figures: &[f64; 2]| -> f64 {
        let along = |axis: usize| (figures[axis] - ranges[axis].0) / ranges[axis].1;
        along(0) * along(0) + along(1) * along(1)
    };
    let mut near: Vec<(f64, u32)> = front
        .iter()
        .map(|(number, figures)| (distance(figures), *number))
        .collect();
    near.sort_by(|(one, number), (other, another)| one.total_cmp(other).then(number.cmp(another)));
    near.truncate(most);
    near.into_iter().map(|(_, number)| number).collect()
}
