//! Floors of a dataset: set by an administrator, beside the service's own.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::privacy::{Floors, K, L, Lift, ParameterError, Share, T};

use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, UrlPath};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::job::floors::InForce;
use crate::store::DatasetRow;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(set_floors))
}

/// What no job may go below; null: nothing is asked.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = Floors)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FloorsView {
    /// Least k.
    #[schema(minimum = 1)]
    k_min: Option<u32>,
    /// Least l of every sensitive attribute.
    #[schema(minimum = 1)]
    l_min: Option<u32>,
    /// Largest t.
    #[schema(minimum = 0, maximum = 1)]
    t_max: Option<f64>,
    /// Largest re-identification risk of a record, promised and measured.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    risk_max: Option<f64>,
    /// How many times as well as without it values may be guessed from a release.
    #[schema(minimum = 1, maximum = 1000)]
    lift_max: Option<f64>,
    /// Names of the engines that are allowed.
    engines: Option<Vec<String>>,
}

impl From<Floors> for FloorsView {
    fn from(floors: Floors) -> Self {
        Self {
            k_min: floors.k_min.map(K::get),
            l_min: floors.l_min.map(L::get),
            t_max: floors.t_max.map(T::get),
            risk_max: floors.risk_max.map(Share::get),
            lift_max: floors.lift_max.map(Lift::get),
            engines: floors.engines,
        }
    }
}

impl FloorsView {
    /// What holds for a dataset: the stricter of the service's and its own.
    pub(super) fn in_force(service: &Floors, dataset: &Floors) -> Self {
        InForce::of(service, dataset).floors().into()
    }

    /// The floors, if each lies within its bounds.
    fn read(self) -> Result<Floors, Problem> {
        let unknown = |name: &&String| !Engine::NAMES.contains(&name.as_str());
        let named = self.engines.as_deref();
        if named.is_some_and(|names| names.is_empty() || names.iter().any(|name| unknown(&name))) {
            let detail = format!(
                "engines names one or more of {}; null allows all that the service allows",
                Engine::NAMES.join(", ")
            );
            return Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("engines"));
        }
        Ok(Floors {
            k_min: bounded("k_min", self.k_min.map(K::new))?,
            l_min: bounded("l_min", self.l_min.map(L::new))?,
            t_max: bounded("t_max", self.t_max.map(T::new))?,
            risk_max: bounded("risk_max", self.risk_max.map(Share::new))?,
            lift_max: bounded("lift_max", self.lift_max.map(Lift::try_from))?,
            engines: self.engines,
        })
    }
}

fn bounded<T>(name: &str, parsed: Option<Result<T, ParameterError>>) -> Result<Option<T>, Problem> {
    parsed.transpose().map_err(|error| {
        let detail = format!("{name} must be {}", error.bounds);
        Problem::new(ProblemKind::InvalidBody, detail).with_parameter(name)
    })
}

/// The floors of a dataset.
#[derive(Debug, Serialize, ToSchema)]
struct DatasetFloorsView {
    /// The dataset.
    id: DatasetId,
    /// Its own.
    own: FloorsView,
    /// What holds: the stricter of its own and the service's.
    in_force: FloorsView,
}

/// Set a dataset's floors
///
/// They hold beside the service's, whichever is stricter, and they replace what
/// was set before; what is absent or null is as the service's settings say.
/// Jobs below them are refused, drafts below them are not published.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/floors", operation_id = "set_floors", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    request_body(content = FloorsView, example = json!({"k_min": 5, "l_min": 3, "engines": ["lgb", "mondrian"]})),
    responses((status = 200, description = "What holds now.", body = DatasetFloorsView)),
)]
async fn set_floors(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    JsonBody(request): JsonBody<FloorsView>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let floors = request.read()?;
    let service = state.settings.floors.clone();
    let act = principal.act_answering(move |set| Some(answer(set, &service)));
    let set = state.store.dataset_set_floors(act, id, floors).await?;
    Ok(answer(&set, &state.settings.floors))
}

fn answer(set: &DatasetRow, service: &Floors) -> Answer {
    Answer::ok(&DatasetFloorsView {
        id: set.id,
        own: set.floors.clone().into(),
        in_force: FloorsView::in_force(service, &set.floors),
    })
}
