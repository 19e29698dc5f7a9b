//! Published releases that later terms affect, as stewards are told of them.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::auth::{Principal, Role};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::{DatasetId, ReleaseId};
use crate::store::{AffectedRelease, ReleaseRow, ReleaseState};

/// A published release that holds subjects who have since asked for more than
/// it gives, or excluded themselves: withdraw it, or run its job again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AffectedView {
    /// The release.
    release: ReleaseId,
    /// How many of its subjects, up to tens; null: unknown, for its lineage is
    /// gone.
    #[schema(examples(10))]
    subjects: Option<u64>,
    /// When it was first found.
    since: DateTime<Utc>,
}

impl From<AffectedRelease> for AffectedView {
    fn from(row: AffectedRelease) -> Self {
        Self {
            release: row.release,
            subjects: row.subjects,
            since: row.since,
        }
    }
}

/// Those of a dataset, for stewards.
pub(super) async fn affected_releases(
    state: &AppState,
    principal: &Principal,
    dataset: DatasetId,
) -> Result<Option<Vec<AffectedView>>, Problem> {
    if !principal.has(Role::Steward) {
        return Ok(None);
    }
    let rows = state.store.releases_affected(dataset).await?;
    Ok(Some(rows.into_iter().map(AffectedView::from).collect()))
}

/// What is known of one release, for stewards.
pub(super) async fn affected_release(
    state: &AppState,
    principal: &Principal,
    release: &ReleaseRow,
) -> Result<Option<AffectedView>, Problem> {
    if release.state != ReleaseState::Published {
        return Ok(None);
    }
    let all = affected_releases(state, principal, release.dataset).await?;
    let mut all = all.into_iter().flatten();
    Ok(all.find(|affected| affected.release == release.id))
}
