//! Published releases after their subjects' terms changed: does each of them
//! still give everybody in it what they ask for?
//!
//! The promise is the one that publishing asks. It costs a look at the
//! changed terms, and only where somebody asks for more than the job promised
//! is the lineage read, to see who of them is in the release; where that was
//! purged, what the release shows of each subject.

use std::collections::HashSet;

use vizard_anonymizer::microdata::Schema;
use vizard_anonymizer::release::candidates::Candidates;

use crate::job::JobSpec;
use crate::job::consent::{JobPromise, held};
use crate::store::{Act, Affected, PreferenceChange, Store, StoreError, Unlooked};

/// Subjects are counted up to a multiple of this: one change more or less is
/// not to tell who asked.
const TENS: u64 = 10;

/// Looks at every release whose people's terms moved; what was found is `by`'s
/// entry of the audit log.
pub(super) async fn look(store: &Store, by: &str) {
    let releases = match store.releases_unlooked().await {
        Ok(releases) => releases,
        Err(error) => return tracing::warn!(%error, "no look at published releases"),
    };
    for unlooked in releases {
        let release = unlooked.release;
        let looked = match found(store, unlooked).await {
            Ok(found) => store.release_looked_at(Act::by(by), unlooked, found).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::warn!(%release, %error, "no look at what terms ask of a release");
        }
    }
}

async fn found(store: &Store, looked: Unlooked) -> Result<Affected, StoreError> {
    let (dataset, since) = (looked.dataset, looked.preference_version);
    let changes = store.preferences_changed_since(dataset, since).await?;
    if changes.is_empty() {
        return Ok(Affected::No);
    }
    let Some(promise) = promise(store, looked).await? else {
        return Ok(Affected::Unknown);
    };
    let changes = changes.iter().map(PreferenceChange::terms);
    let stricter: HashSet<String> = promise.stricter(changes).map(str::to_owned).collect();
    if stricter.is_empty() {
        return Ok(Affected::No);
    }
    let release = looked.release;
    let lineage = match store.release_lineage(release).await {
        // Purged: what the release shows of each subject stays longer.
        Err(StoreError::NotFound { .. }) => None,
        lineage => Some(lineage?),
    };
    let candidates = match lineage {
        None => store.release_candidates(release).await?,
        Some(_) => None,
    };
    let counted = tokio::task::spawn_blocking(move || match (lineage, candidates) {
        (Some(lineage), _) => held(&lineage, &stricter),
        (None, Some(candidates)) => shown(&candidates, &stricter),
        (None, None) => None,
    });
    Ok(match counted.await.ok().flatten() {
        None => Affected::Unknown,
        Some(0) => Affected::No,
        Some(subjects) => Affected::Subjects(subjects.next_multiple_of(TENS)),
    })
}

/// How many of the subjects a release shows something of.
fn shown(candidates: &[u8], subjects: &HashSet<String>) -> Option<u64> {
    let candidates = Candidates::from_bytes(candidates).ok()?;
    let shown = candidates
        .subjects
        .iter()
        .filter(|own| subjects.contains(*own));
    Some(shown.count() as u64)
}

/// What the release's job promised; `None` where that cannot be read any more.
async fn promise(store: &Store, looked: Unlooked) -> Result<Option<JobPromise>, StoreError> {
    // Also of a version whose records were purged.
    let versions = store.version_list(looked.dataset).await?;
    let version = versions
        .into_iter()
        .find(|row| row.version == looked.dataset_version);
    let spec = store.job_get(looked.job).await?.spec;
    let read = version.and_then(|version| {
        let schema: Schema = serde_json::from_value(version.schema).ok()?;
        let spec: JobSpec = serde_json::from_value(spec).ok()?;
        JobPromise::of(&spec, schema.transformed()).ok()
    });
    if read.is_none() {
        tracing::error!(release = %looked.release, "what a release promised cannot be read");
    }
    Ok(read)
}
