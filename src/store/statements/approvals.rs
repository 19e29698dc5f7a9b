//! Statements on approvals. Their release's row is held meanwhile.

use super::statements;

statements! {
    /// `$1` release.
    GET = "SELECT release_id AS id, grounds AS approved_grounds, beside, acknowledged, \
        approved_by, approved_at FROM release_approval WHERE release_id = $1";
    /// `$1` release, `$2` grounds, `$3` beside, `$4` acknowledged or null, `$5` who, `$6` now.
    /// One that is void makes room.
    PUT = "INSERT INTO release_approval (release_id, grounds, beside, acknowledged, approved_by, \
        approved_at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (release_id) DO UPDATE SET \
        grounds = excluded.grounds, beside = excluded.beside, \
        acknowledged = excluded.acknowledged, approved_by = excluded.approved_by, \
        approved_at = excluded.approved_at";
}
