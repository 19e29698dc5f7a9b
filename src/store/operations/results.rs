//! A job's result, and the step from draft to public.
//!
//! Completing is one transaction: the job's state (guarded by the lease, so a
//! stale worker stops here), the release with its documents, tables and
//! pieces, and, if the job publishes by itself, the publishing. Either all of
//! it is there or nothing.
//!
//! Publishing looks at what changed in the preferences *after* it holds the
//! dataset's row. A change of preferences holds the same row until it commits:
//! it is either seen here, or it comes after the release was public.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Schema, Sha256};

use super::approvals::{Agreement, Second, claim, note, second};
use super::dataset_row::{floors, hold};
use super::entry::{Done, Entry};
use super::explorations::keep_best;
use super::in_force::changed_since;
use super::job_row::get;
use super::leases::{Lease, change};
use super::populations;
use super::release_row::series;
use crate::failpoint;
use crate::ids::{DatasetId, ReleaseId};
use crate::job::floors::Below;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, create_release_key, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{
    datasets as dataset_sql, jobs as job_sql, ledger as ledger_sql, releases as sql,
};
use crate::store::{
    Composed, Conflict, NewReleaseTable, PublishCheck, PublishDecision, PublishOutcome,
    PublishRequest, ReleaseCommit, ReleaseState, StoreError,
};

const TABLE: &str = "release";

pub(super) async fn complete(
    session: &mut Session,
    lease: Lease,
    commit: ReleaseCommit,
    actor: String,
) -> Result<Done<ReleaseState>, StoreError> {
    let dataset = get(session, lease.id).await?.dataset;
    let erased = |error| match error {
        StoreError::NotFound { .. } => StoreError::LeaseLost,
        other => other,
    };
    if commit.publish.is_some() {
        // The population's lock before any dataset's row.
        let members = populations::held_members(session, dataset).await;
        members.map_err(erased)?;
    }
    // The dataset's row before the job's, as an erasure takes them.
    let keep = session.dialect().dataset_keep;
    hold(session, dataset, keep).await.map_err(erased)?;
    let times = session.times().await?;
    let now = times.now;
    change(session, job_sql::SUCCEED, lease.end(times)).await?;
    let id = commit.id;
    let records = of(session, dataset.uuid(), Purpose::Records).await?;
    let preferences = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let access = create_release_key(session, dataset, id, &records).await?;
    let report = access.kept_text(&AssociatedData::Report(id), commit.report.to_string())?;
    let verification = commit.verification.to_string();
    let cells = cells![
        id.uuid(),
        lease.id.uuid(),
        &commit.manifest,
        report,
        access.kept_text(&AssociatedData::Verification(id), verification)?,
        records.kept(&AssociatedData::Lineage(id), commit.lineage)?,
        now,
        preferences.kept(&AssociatedData::Candidates(id), commit.candidates)?,
    ];
    session.run(sql::CREATE, cells).await?;
    let kept = cells![commit.id.uuid(), lease.id.uuid(), &commit.claims, now];
    session.run(ledger_sql::CREATE, kept).await?;
    for (position, table) in (0u32..).zip(commit.tables) {
        table_write(session, &access, (id, position), table).await?;
    }
    failpoint::reached("job-tables-written");
    let detail = json!({"release": commit.id});
    let completed = Entry::job("complete_job", lease.id, dataset).telling(detail);
    let mut done = Done::one(ReleaseState::Draft, completed);
    if let Some((exploration, measures)) = commit.explored {
        let made = (id, &access);
        let kept = keep_best(session, exploration, made, (measures, &actor)).await?;
        done.entries.extend(kept);
    }
    let Some(request) = commit.publish else {
        return Ok(done);
    };
    // A worker is no steward: what takes two of them stays a draft.
    let by = Publisher {
        actor,
        is_steward: false,
    };
    let published = match publish_draft(session, (commit.id, dataset), request, by).await {
        // Another release of the same people was faster: it stays a draft.
        Err(StoreError::Conflict(Conflict::SeriesMoved)) => return Ok(done),
        other => other?,
    };
    if published.answer.0 == PublishDecision::Allow {
        done.answer = ReleaseState::Published;
    }
    done.entries.extend(published.entries);
    Ok(done)
}

async fn table_write(
    session: &mut Session,
    access: &DataKeyAccess,
    (release, position): (ReleaseId, u32),
    table: NewReleaseTable,
) -> Result<(), StoreError> {
    let raw_bytes: u64 = table.pieces.iter().map(|piece| piece.raw_bytes).sum();
    let cells = cells![
        release.uuid(),
        position,
        table.name,
        &table.columns,
        table.rows,
        raw_bytes,
        table.sha256,
        table.pieces.len() as u64,
    ];
    session.run(sql::TABLE_CREATE, cells).await?;
    for (piece_position, piece) in (0u32..).zip(table.pieces) {
        let associated = AssociatedData::Piece {
            release,
            table: position,
            position: piece_position,
        };
        let kept = access.kept(&associated, piece.bytes)?;
        let digest = Sha256::of(&kept);
        let cells = cells![
            release.uuid(),
            position,
            piece_position,
            piece.rows,
            piece.raw_bytes,
            digest,
            kept,
        ];
        session.run(sql::PIECE_CREATE, cells).await?;
        failpoint::reached("job-piece-written");
    }
    Ok(())
}

/// Publishes a release in whatever state it is, if that can be.
pub(super) async fn publish(
    session: &mut Session,
    id: ReleaseId,
    request: PublishRequest,
    actor: String,
) -> Result<Done<PublishOutcome>, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    let dataset = DatasetId::from(row.uuid("dataset_id")?);
    let done = match row.word("state", ReleaseState::parse)? {
        ReleaseState::Published => Done::unchanged((PublishDecision::Allow, Vec::new())),
        ReleaseState::Withdrawn => return Err(Conflict::ReleaseState.into()),
        ReleaseState::Draft => {
            let by = Publisher {
                actor,
                is_steward: true,
            };
            publish_draft(session, (id, dataset), request, by).await?
        }
    };
    let (decision, below) = done.answer;
    let outcome = PublishOutcome {
        decision,
        below,
        release: super::release_row::get(session, id).await?,
    };
    Ok(Done::many(outcome, done.entries))
}

/// Who publishes.
struct Publisher {
    actor: String,
    /// Else a worker, for a job that publishes by itself.
    is_steward: bool,
}

/// What was decided, and what is below the floors.
type Decided = (PublishDecision, Vec<Below>);

async fn publish_draft(
    session: &mut Session,
    (id, dataset): (ReleaseId, DatasetId),
    request: PublishRequest,
    by: Publisher,
) -> Result<Done<Decided>, StoreError> {
    let row = held_draft(session, (id, dataset)).await?;
    match row.word("state", ReleaseState::parse)? {
        // Somebody else was faster.
        ReleaseState::Published => return Ok(stays(PublishDecision::Allow)),
        ReleaseState::Withdrawn => return Err(Conflict::ReleaseState.into()),
        ReleaseState::Draft => {}
    }
    let public = series(session, dataset).await?;
    if request.beside.as_ref().is_some_and(|all| *all != public) {
        return Err(Conflict::SeriesMoved.into());
    }
    let PublishRequest {
        check,
        composed,
        rules,
        ..
    } = request;
    let floors = floors(session, dataset).await?;
    let is_composed = composed.as_ref().is_some_and(|one| one.reason.is_some());
    let grounds = rules
        .as_ref()
        .map(|rules| rules.grounds(&floors, is_composed));
    let grounds = match grounds.transpose() {
        Ok(grounds) => grounds.unwrap_or_default(),
        Err(below) => return Ok(Done::unchanged((PublishDecision::BelowFloor, below))),
    };
    let (decision, changed) = terms_hold(session, (id, dataset), (&row, check)).await?;
    if decision != PublishDecision::Allow {
        return Ok(stays(decision));
    }
    let mut first = None;
    if rules.is_some_and(|rules| rules.need_two(&grounds)) {
        if !by.is_steward {
            return Ok(stays(PublishDecision::Awaited));
        }
        let agreement = Agreement {
            grounds: &grounds,
            beside: &public,
            composed: composed.as_ref(),
        };
        match second(session, (id, dataset), agreement, &by.actor).await? {
            Second::Agrees(approval) => first = Some(approval),
            Second::Awaited(entry) => {
                return Ok(Done::one((PublishDecision::Awaited, Vec::new()), entry));
            }
        }
    }
    let now = session.now().await?;
    session.run(sql::PUBLISH, cells![id.uuid(), now]).await?;
    let step = cells![id.uuid(), now, by.actor];
    session.run(ledger_sql::PUBLISH, step).await?;
    note(session, id, (&grounds, first.as_ref())).await?;
    let mut detail = json!({"preferences_changed": changed});
    if let Some(first) = first {
        detail["approved_by"] = json!(first.by);
    }
    if let Some(composed) = composed {
        detail["composed_with"] = json!(composed.with.len());
        compose(session, id, composed).await?;
    }
    failpoint::reached("publish-before-commit");
    let entry = Entry::release("publish_release", id, dataset).telling(detail);
    Ok(Done::one((decision, Vec::new()), entry))
}

/// Nothing is changed.
fn stays(decision: PublishDecision) -> Done<Decided> {
    Done::unchanged((decision, Vec::new()))
}

/// The row of a release, once all datasets of its people and itself are held.
async fn held_draft(
    session: &mut Session,
    (id, dataset): (ReleaseId, DatasetId),
) -> Result<Row, StoreError> {
    let dialect = session.dialect();
    // An erasure may have taken the dataset, and with it this draft.
    let erased = |error| match error {
        StoreError::NotFound { .. } => StoreError::not_found("release"),
        other => other,
    };
    // All datasets of these people, so that of two drafts one comes first.
    let members = populations::held_members(session, dataset).await;
    for member in members.map_err(erased)? {
        match hold(session, member, dialect.dataset_lock).await {
            Err(StoreError::NotFound { .. }) if member != dataset => {}
            other => other.map_err(erased)?,
        }
    }
    let row = session
        .row(TABLE, dialect.release_lock, cells![id.uuid()])
        .await?;
    row.ok_or(StoreError::not_found("release"))
}

/// Whether the draft gives everyone what they ask for now, and how many terms
/// changed since.
async fn terms_hold(
    session: &mut Session,
    (id, dataset): (ReleaseId, DatasetId),
    (row, mut check): (&Row, PublishCheck),
) -> Result<(PublishDecision, usize), StoreError> {
    if protects_more_now(session, dataset, row.count("dataset_version")?).await? {
        return Ok((PublishDecision::Refuse, 0));
    }
    let records = of(session, dataset.uuid(), Purpose::Records).await?;
    let lineage = row.bytes("lineage")?;
    let lineage = records.bytes(&AssociatedData::Lineage(id), lineage, (row, "lineage"))?;
    let changes = changed_since(session, dataset, row.count("preference_version")?).await?;
    let changed = changes.len();
    // The check reads a lineage as long as the table: not on this thread.
    let checked = tokio::task::spawn_blocking(move || check(&changes, &lineage));
    let decision = checked
        .await
        .map_err(|_| StoreError::driver("a publish check panicked"))?;
    Ok((decision, changed))
}

/// Whether the dataset's schema protects an attribute now that it did not
/// protect in this version, or says more for those who say nothing: terms given
/// since could not have bound there.
async fn protects_more_now(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<bool, StoreError> {
    let cells = cells![dataset.uuid(), version];
    let row = session.row("dataset", dataset_sql::SCHEMAS, cells).await?;
    let row = row.ok_or(StoreError::not_found("version"))?;
    let [now, then] = [row.json("schema")?, row.json("version_schema")?];
    if now == then {
        return Ok(false);
    }
    let schema = |document: Value, column: &'static str| {
        let read = serde_json::from_value::<Schema>(document);
        read.map_err(|_| row.inconsistent(column))
    };
    let (now, then) = (schema(now, "schema")?, schema(then, "version_schema")?);
    Ok(!now.protects_beyond(&then).is_empty() || now.asks_beyond(&then))
}

/// Notes in both releases of each pair, and in the ledger, that they are about
/// the same people.
async fn compose(
    session: &mut Session,
    id: ReleaseId,
    composed: Composed,
) -> Result<(), StoreError> {
    let mut own = Vec::new();
    for (other, together) in composed.with {
        let noted = |release: ReleaseId| {
            let mut noted = together.clone();
            noted["release"] = json!(release);
            if let Some(reason) = &composed.reason {
                noted["reason"] = json!(reason);
            }
            noted
        };
        own.push(noted(other));
        let row = super::release_row::get(session, other).await?;
        let mut kept = row.composition.as_array().cloned().unwrap_or_default();
        kept.push(noted(id));
        session
            .run(sql::COMPOSE, cells![other.uuid(), &Value::from(kept)])
            .await?;
    }
    let own = Value::from(own);
    session.run(sql::COMPOSE, cells![id.uuid(), &own]).await?;
    claim(session, id, "composition", own).await
}
