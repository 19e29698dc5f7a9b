//! Options of what the operator asks of every job: floors, and second stewards.

use clap::{Args, ValueEnum};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::privacy::{Floors, K, L, Lift, Share, T};

use crate::config::SecondSteward;
use crate::worker::WorkerSettings;

/// What no job may go below, and which publications take two stewards. The
/// same for every process on one store.
#[derive(Args, Clone, Debug)]
pub struct PolicyOptions {
    /// Least k of a job; 1: any
    #[arg(long, env = "VIZARD_K_MIN", value_name = "K", default_value = "2", value_parser = k)]
    k_min: K,
    /// Least l of a job, for every sensitive attribute [default: any]
    #[arg(long, env = "VIZARD_L_MIN", value_name = "L", value_parser = l)]
    l_min: Option<L>,
    /// Largest t of a job [default: any]
    #[arg(long, env = "VIZARD_T_MAX", value_name = "T", value_parser = t)]
    t_max: Option<T>,
    /// Largest re-identification risk of a record, promised and measured [default: any]
    #[arg(long, env = "VIZARD_RISK_MAX", value_name = "SHARE", value_parser = share)]
    risk_max: Option<Share>,
    /// How many times as well as without it values may be guessed from a release [default: any]
    #[arg(long, env = "VIZARD_LIFT_MAX", value_name = "FACTOR", value_parser = lift)]
    lift_max: Option<Lift>,
    /// Engines that jobs may use, with commas between them [default: all]
    #[arg(long, env = "VIZARD_ENGINES_ALLOWED", value_name = "NAMES", value_delimiter = ',', value_parser = engine)]
    engines_allowed: Option<Vec<String>>,
    /// Which publications take two stewards
    #[arg(
        long,
        env = "VIZARD_SECOND_STEWARD",
        value_name = "WHEN",
        default_value = "exceptions"
    )]
    second_steward: When,
}

/// When a second steward is needed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    /// Where the job asked for an exception from the floors, or other releases share subjects
    Exceptions,
    /// For every publication
    Always,
    /// Never
    Never,
}

impl PolicyOptions {
    /// The service's floors.
    pub fn floors(&self) -> Floors {
        Floors {
            k_min: Some(self.k_min),
            l_min: self.l_min,
            t_max: self.t_max,
            risk_max: self.risk_max,
            lift_max: self.lift_max,
            engines: self.engines_allowed.clone(),
        }
    }

    /// Which publications need a second steward.
    pub fn second_steward(&self) -> SecondSteward {
        match self.second_steward {
            When::Exceptions => SecondSteward::Exceptions,
            When::Always => SecondSteward::Always,
            When::Never => SecondSteward::Never,
        }
    }

    /// The same settings of a worker under these rules.
    pub fn ruling(&self, worker: WorkerSettings) -> WorkerSettings {
        WorkerSettings {
            floors: self.floors(),
            second_steward: self.second_steward(),
            ..worker
        }
    }
}

fn number<T: TryFrom<N>, N: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Error: std::fmt::Display,
    N::Err: std::fmt::Display,
{
    let number: N = text.parse().map_err(|error: N::Err| error.to_string())?;
    T::try_from(number).map_err(|error| error.to_string())
}

fn k(text: &str) -> Result<K, String> {
    number::<K, u32>(text)
}

fn l(text: &str) -> Result<L, String> {
    number::<L, u32>(text)
}

fn t(text: &str) -> Result<T, String> {
    number::<T, f64>(text)
}

fn share(text: &str) -> Result<Share, String> {
    number::<Share, f64>(text)
}

fn lift(text: &str) -> Result<Lift, String> {
    number::<Lift, f64>(text)
}

fn engine(text: &str) -> Result<String, String> {
    if Engine::NAMES.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("the engines are {}", Engine::NAMES.join(", ")))
    }
}
