//! Receipts of consent: given with terms, read, and used to withdraw.
//!
//! What a release made of a choice is decided by versions alone. Every release
//! was verified against the terms of its own preference version; and a draft
//! that is let out later was held against the terms of that moment. No record
//! and no lineage is looked at, so nobody learns from a receipt who is in a
//! dataset.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::Store;
use super::entry::Done;
use super::preferences::{self, exclusion};
use super::terms::SealedTerms;
use crate::ids::{DatasetId, ReleaseId};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::receipts as sql;
use crate::store::{Act, ReceiptOutcome, ReceiptRelease, ReceiptRow, StoreError};

const TABLE: &str = "consent_receipt";

/// What a code that never was, or whose terms were erased, is to everybody.
const NONE: StoreError = StoreError::NotFound { what: "receipt" };

/// The place of a choice in one dataset's history.
struct Choice {
    dataset: DatasetId,
    version: u64,
    until_version: Option<u64>,
    made_at: DateTime<Utc>,
    replaced_at: Option<DateTime<Utc>>,
    is_exclusion: bool,
}

impl Choice {
    /// What became of it in a release made at a preference version.
    fn kept_in(
        &self,
        made_at_version: u64,
        published_at: DateTime<Utc>,
        applies_terms: bool,
    ) -> ReceiptOutcome {
        let was_in_force = match (made_at_version >= self.version, self.until_version) {
            (true, Some(until)) => made_at_version < until,
            (true, None) => true,
            // Held against the terms of the moment in which it was let out.
            (false, _) if published_at < self.made_at => return ReceiptOutcome::MadeBefore,
            (false, None) => true,
            (false, Some(_)) => self.replaced_at.is_some_and(|then| published_at < then),
        };
        if !was_in_force {
            ReceiptOutcome::Replaced
        } else if applies_terms || self.is_exclusion {
            ReceiptOutcome::Kept
        } else {
            ReceiptOutcome::NotApplied
        }
    }
}

async fn choice(session: &mut Session, row: &Row) -> Result<(Choice, String), StoreError> {
    let dataset = DatasetId::from(row.uuid("dataset_id")?);
    let terms = SealedTerms::of(session, dataset).await?;
    let (subject, document) = terms.read(row, ("document", "version"))?.ok_or(NONE)?;
    let choice = Choice {
        dataset,
        version: row.count("version")?,
        until_version: row.count_or_null("until_version")?,
        made_at: row.time("created_at")?,
        replaced_at: row.time_or_null("replaced_at")?,
        is_exclusion: document["exclude"] == true,
    };
    Ok((choice, subject))
}

/// Whether a release's job applied what single subjects ask for: its manifest
/// then claims so.
fn applies_terms(manifest: &Value) -> bool {
    let claims = manifest["guarantees"].as_array();
    claims
        .into_iter()
        .flatten()
        .any(|claim| claim["kind"] == "max_leakage" && claim["attribute"] == "*")
}

async fn releases(
    session: &mut Session,
    choice: &Choice,
) -> Result<Vec<ReceiptRelease>, StoreError> {
    let cells = cells![choice.dataset.uuid()];
    let rows = session.rows("release", sql::RELEASES, cells).await?;
    let release = |row: &Row| {
        let published_at = row.time("published_at")?;
        let version = row.count("preference_version")?;
        let applies = applies_terms(&row.json("manifest")?);
        Ok(ReceiptRelease {
            id: ReleaseId::from(row.uuid("id")?),
            published_at,
            kept: choice.kept_in(version, published_at, applies),
        })
    };
    rows.iter().map(release).collect()
}

/// The choice of a code in each dataset that it was written to, and whose it is.
async fn choices(
    session: &mut Session,
    code_hash: [u8; 32],
) -> Result<(Vec<Choice>, String), StoreError> {
    let rows = session.rows(TABLE, sql::FIND, cells![code_hash]).await?;
    let (mut choices, mut whose) = (Vec::new(), None);
    for row in rows {
        let (choice, subject) = choice(session, &row).await?;
        choices.push(choice);
        whose = Some(subject);
    }
    Ok((choices, whose.ok_or(NONE)?))
}

async fn find(session: &mut Session, code_hash: [u8; 32]) -> Result<ReceiptRow, StoreError> {
    let (choices, subject) = choices(session, code_hash).await?;
    let mut all = Vec::new();
    for choice in &choices {
        all.extend(releases(session, choice).await?);
    }
    all.sort_by_key(|one| (one.published_at, one.id));
    let first = choices.first().ok_or(NONE)?;
    Ok(ReceiptRow {
        dataset: first.dataset,
        subject,
        made_at: first.made_at,
        is_in_force: first.until_version.is_none(),
        replaced_at: first.replaced_at,
        releases: all,
    })
}

/// Sets the terms of a subject and keeps a receipt of them; answers when.
pub(super) async fn set(
    session: &mut Session,
    (dataset, subject): (DatasetId, &str),
    (document, receipt): (&Value, [u8; 32]),
    action: &'static str,
) -> Result<Done<DateTime<Utc>>, StoreError> {
    let versions = preferences::set(session, dataset, subject, document).await?;
    for &(member, version) in versions.all() {
        let subject = SealedTerms::of(session, member).await?.subject(subject);
        let cells = cells![receipt, member.uuid(), subject, version];
        session.run(sql::CREATE, cells).await?;
    }
    let (choices, _) = choices(session, receipt).await?;
    let made_at = choices.first().ok_or(NONE)?.made_at;
    Ok(versions.changed(action, 1).answering(made_at))
}

async fn withdraw(
    session: &mut Session,
    code_hash: [u8; 32],
    receipt: [u8; 32],
) -> Result<Done<DateTime<Utc>>, StoreError> {
    let (of_code, subject) = choices(session, code_hash).await?;
    let dataset = of_code.first().ok_or(NONE)?.dataset;
    let document = exclusion();
    let terms = (&document, receipt);
    let set = set(
        session,
        (dataset, &subject),
        terms,
        "withdraw_my_preferences",
    )
    .await;
    let done = set.map_err(|error| or_none(error, NONE))?;
    // Erased between the two: the terms that were just set are taken back.
    choices(session, code_hash).await?;
    Ok(done)
}

/// An erased dataset is to the holder of a code as if there were no code.
pub(super) fn or_none(error: StoreError, none: StoreError) -> StoreError {
    match error {
        StoreError::NotFound { .. } => none,
        other => other,
    }
}

impl Store {
    /// What the code with this hash stands for. Not found if it never was, or
    /// its terms were erased.
    pub async fn receipt_find(&self, code_hash: [u8; 32]) -> Result<ReceiptRow, StoreError> {
        self.read(move |session| Box::pin(find(session, code_hash)))
            .await
    }

    /// Leaves the holder of a code out of all releases from now on, under a new
    /// code; answers when. Not found as above.
    pub async fn receipt_withdraw(
        &self,
        act: Act<DateTime<Utc>>,
        code_hash: [u8; 32],
        receipt: [u8; 32],
    ) -> Result<DateTime<Utc>, StoreError> {
        self.write(act, move |session| {
            Box::pin(withdraw(session, code_hash, receipt))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).expect("a time")
    }

    /// A choice of version 5, made at second 50; replaced by version 8 at second 80, or not.
    fn choice(is_replaced: bool, is_exclusion: bool) -> Choice {
        Choice {
            dataset: DatasetId::from(uuid::Uuid::nil()),
            version: 5,
            until_version: is_replaced.then_some(8),
            made_at: at(50),
            replaced_at: is_replaced.then(|| at(80)),
            is_exclusion,
        }
    }

    #[test]
    fn a_choice_counts_from_its_own_version_up_to_the_one_that_replaced_it() {
        for (version, published_at, in_force, replaced) in [
            (
                4,
                49,
                ReceiptOutcome::MadeBefore,
                ReceiptOutcome::MadeBefore,
            ),
            (4, 50, ReceiptOutcome::Kept, ReceiptOutcome::Kept),
            (4, 79, ReceiptOutcome::Kept, ReceiptOutcome::Kept),
            (4, 80, ReceiptOutcome::Kept, ReceiptOutcome::Replaced),
            (5, 51, ReceiptOutcome::Kept, ReceiptOutcome::Kept),
            (7, 90, ReceiptOutcome::Kept, ReceiptOutcome::Kept),
            (8, 90, ReceiptOutcome::Kept, ReceiptOutcome::Replaced),
        ] {
            let kept = |choice: Choice| choice.kept_in(version, at(published_at), true);
            assert_eq!(
                kept(choice(false, false)),
                in_force,
                "{version} {published_at}"
            );
            assert_eq!(
                kept(choice(true, false)),
                replaced,
                "{version} {published_at}"
            );
        }
    }

    #[test]
    fn where_terms_are_not_applied_only_an_exclusion_is_kept() {
        assert_eq!(
            choice(false, false).kept_in(6, at(60), false),
            ReceiptOutcome::NotApplied
        );
        assert_eq!(
            choice(false, true).kept_in(6, at(60), false),
            ReceiptOutcome::Kept
        );
        assert_eq!(
            choice(true, true).kept_in(9, at(99), false),
            ReceiptOutcome::Replaced
        );
    }

    #[test]
    fn terms_taken_out_of_force_have_no_time_and_vouch_for_nothing_let_out_later() {
        let gone = Choice {
            replaced_at: None,
            ..choice(true, false)
        };
        assert_eq!(gone.kept_in(4, at(60), true), ReceiptOutcome::Replaced);
        assert_eq!(gone.kept_in(6, at(90), true), ReceiptOutcome::Kept);
    }
}
