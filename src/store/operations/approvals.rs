//! Approvals, in the transaction that would publish.

use serde_json::{Value, json};

use super::entry::Entry;
use crate::ids::{DatasetId, ReleaseId};
use crate::job::approval::Ground;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{approvals as sql, ledger as ledger_sql, releases as release_sql};
use crate::store::{Approval, Composed, Conflict, StoreError};

const TABLE: &str = "release_approval";

/// What a steward would agree to.
pub(super) struct Agreement<'a> {
    pub(super) grounds: &'a [Ground],
    /// The public releases of the same people.
    pub(super) beside: &'a [ReleaseId],
    pub(super) composed: Option<&'a Composed>,
}

/// What became of a call that needs two stewards.
pub(super) enum Second {
    /// Another steward approved the same: it may go out.
    Agrees(Approval),
    /// The caller's approval was written down.
    Awaited(Entry),
}

/// The approval beside a release's row, if there is one.
pub(super) fn approval_of(row: &Row) -> Result<Option<Approval>, StoreError> {
    let Some(by) = row.text_or_null("approved_by")? else {
        return Ok(None);
    };
    let grounds = serde_json::from_value(row.json("approved_grounds")?);
    Ok(Some(Approval {
        by,
        at: row.time("approved_at")?,
        grounds: grounds.map_err(|_| row.inconsistent("grounds"))?,
        acknowledged: row.json_or_null("acknowledged")?.unwrap_or_default(),
    }))
}

/// Looks for the approval of another steward, and writes the caller's where
/// there is none that holds.
pub(super) async fn second(
    session: &mut Session,
    (id, dataset): (ReleaseId, DatasetId),
    agreement: Agreement<'_>,
    actor: &str,
) -> Result<Second, StoreError> {
    let beside = json!(agreement.beside);
    if let Some(row) = session.row(TABLE, sql::GET, cells![id.uuid()]).await?
        && let Some(approval) = approval_of(&row)?
        && approval.grounds == agreement.grounds
        && row.json("beside")? == beside
    {
        return if approval.by == actor {
            Err(Conflict::SecondSteward.into())
        } else {
            Ok(Second::Agrees(approval))
        };
    }
    let acknowledged = agreement.composed.and_then(|composed| {
        let reason = composed.reason.as_ref()?;
        let with: Vec<ReleaseId> = composed.with.iter().map(|(id, _)| *id).collect();
        Some(json!({"reason": reason, "with": with}).to_string())
    });
    let grounds = json!(agreement.grounds);
    let now = session.now().await?;
    let cells = cells![id.uuid(), &grounds, &beside, acknowledged, actor, now];
    session.run(sql::PUT, cells).await?;
    let kinds: Vec<&str> = agreement
        .grounds
        .iter()
        .map(|one| one.kind.as_str())
        .collect();
    let entry = Entry::release("approve_release", id, dataset).telling(json!({"kinds": kinds}));
    Ok(Second::Awaited(entry))
}

/// Notes in a release that becomes public, and in the ledger, on which grounds
/// it did and who approved it first.
pub(super) async fn note(
    session: &mut Session,
    id: ReleaseId,
    (grounds, first): (&[Ground], Option<&Approval>),
) -> Result<(), StoreError> {
    if grounds.is_empty() {
        return Ok(());
    }
    let grounds = json!(grounds);
    let cells = cells![id.uuid(), &grounds];
    session.run(release_sql::GROUNDS, cells).await?;
    claim(session, id, "grounds", grounds).await?;
    if let Some(first) = first {
        let approved = json!({
            "at": first.at,
            "by": first.by,
            "acknowledged": first.acknowledged,
        });
        claim(session, id, "approval", approved).await?;
    }
    Ok(())
}

/// Adds to what the ledger keeps of a release.
pub(super) async fn claim(
    session: &mut Session,
    id: ReleaseId,
    name: &str,
    document: Value,
) -> Result<(), StoreError> {
    let row = session
        .row("ledger", ledger_sql::CLAIMS, cells![id.uuid()])
        .await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    let mut claims: Value = row.json("claims")?;
    claims[name] = document;
    session
        .run(ledger_sql::CLAIM, cells![id.uuid(), &claims])
        .await?;
    Ok(())
}
