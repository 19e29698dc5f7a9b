//! Statements on receipts of consent.
//!
//! A receipt goes with the terms that it is of: the table's foreign key does
//! that, so nothing here deletes.

use super::statements;

statements! {
    /// `$1` hash, `$2` dataset, `$3` subject, `$4` preference version.
    CREATE = "INSERT INTO consent_receipt (code_hash, dataset_id, subject, version) \
        VALUES ($1, $2, $3, $4)";
    /// `$1` hash. `replaced_at` is null as well where terms were taken out of force.
    FIND = "SELECT preference.dataset_id AS dataset_id, preference.subject AS subject, \
        preference.version AS version, preference.until_version AS until_version, \
        preference.document AS document, preference.created_at AS created_at, \
        later.created_at AS replaced_at FROM consent_receipt \
        JOIN preference ON preference.dataset_id = consent_receipt.dataset_id \
        AND preference.subject = consent_receipt.subject \
        AND preference.version = consent_receipt.version \
        LEFT JOIN preference AS later ON later.dataset_id = preference.dataset_id \
        AND later.subject = preference.subject AND later.version = preference.until_version \
        WHERE consent_receipt.code_hash = $1 ORDER BY preference.dataset_id";
    /// `$1` dataset.
    RELEASES = "SELECT id, preference_version, published_at, manifest FROM release \
        WHERE dataset_id = $1 AND state = 'published' ORDER BY published_at, id";
}
