//! The chain of the audit log: what is hashed, and what a walk notices.
//!
//! The encoding is unambiguous: a label of the format, then every column in
//! the order of the table, each text and byte string behind its length, each
//! column that may be null behind a byte that says whether it is. Numbers are
//! big-endian. Two different rows never have the same encoding.

use sha2::{Digest, Sha256};

use super::audit::{AuditAnchor, AuditBreak, AuditRow};

/// Names the encoding: another one would have another label.
const LABEL: &[u8] = b"vizard-audit/1\n";

/// The SHA-256 of a row, its own `hash` left out.
pub(super) fn digest(row: &AuditRow) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(LABEL);
    hash.update(row.position.to_be_bytes());
    hash.update(row.occurred_at.timestamp_micros().to_be_bytes());
    let dataset = row.dataset.map(|id| id.uuid().into_bytes());
    let columns = [
        Some(row.actor.as_bytes()),
        row.request.as_deref().map(str::as_bytes),
        Some(row.action.as_bytes()),
        Some(row.object_kind.as_bytes()),
        row.object.as_deref().map(str::as_bytes),
        dataset.as_ref().map(|id| id.as_slice()),
        Some(row.detail.as_bytes()),
        Some(&row.previous),
    ];
    for column in columns {
        match column {
            None => hash.update([0]),
            Some(bytes) => {
                hash.update([1]);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(bytes);
            }
        }
    }
    hash.finalize().into()
}

/// A walk along the chain, from before the first row.
pub(super) struct Walk {
    /// The last place that held.
    pub(super) head: AuditAnchor,
    anchors: Vec<AuditAnchor>,
}

impl Walk {
    /// A walk that wants to come through all `anchors`.
    pub(super) fn new(anchors: Vec<AuditAnchor>) -> Self {
        let head = AuditAnchor {
            position: 0,
            hash: [0; 32],
        };
        Self { head, anchors }
    }

    /// Steps on to the next row that is there.
    pub(super) fn step(&mut self, row: &AuditRow) -> Result<(), AuditBreak> {
        if row.position != self.head.position + 1 {
            return Err(AuditBreak::Gap);
        }
        if row.previous != self.head.hash {
            return Err(AuditBreak::LinkBroken);
        }
        if digest(row) != row.hash {
            return Err(AuditBreak::ContentChanged);
        }
        let here = AuditAnchor {
            position: row.position,
            hash: row.hash,
        };
        let missed = |anchor: &AuditAnchor| anchor.position == here.position && *anchor != here;
        if self.anchors.iter().any(missed) {
            return Err(AuditBreak::Rewritten);
        }
        self.head = here;
        Ok(())
    }

    /// What is wrong at the end of the rows, where `noted` is the head that
    /// the store has noted; with the position that it is wrong at.
    pub(super) fn end(&self, noted: AuditAnchor) -> Option<(u64, AuditBreak)> {
        let anchored = self.anchors.iter().map(|anchor| anchor.position).max();
        if noted.position.max(anchored.unwrap_or(0)) > self.head.position {
            return Some((self.head.position + 1, AuditBreak::Truncated));
        }
        (noted != self.head).then_some((self.head.position, AuditBreak::LinkBroken))
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn row(position: u64, previous: [u8; 32]) -> AuditRow {
        let mut row = AuditRow {
            position,
            occurred_at: DateTime::from_timestamp(1_800_000_000, 5_000).expect("in range"),
            actor: "operator".to_owned(),
            request: None,
            action: "create_dataset".to_owned(),
            object_kind: "dataset".to_owned(),
            object: Some("dataset_1".to_owned()),
            dataset: None,
            detail: "{}".to_owned(),
            previous,
            hash: [0; 32],
        };
        row.hash = digest(&row);
        row
    }

    fn chain(rows: u64) -> Vec<AuditRow> {
        let mut chain: Vec<AuditRow> = Vec::new();
        for position in 1..=rows {
            let previous = chain.last().map_or([0; 32], |row| row.hash);
            chain.push(row(position, previous));
        }
        chain
    }

    fn walk(rows: &[AuditRow], anchor: Option<AuditAnchor>) -> Option<(u64, AuditBreak)> {
        let mut walk = Walk::new(anchor.into_iter().collect());
        for row in rows {
            if let Err(broken) = walk.step(row) {
                return Some((row.position, broken));
            }
        }
        walk.end(walk.head)
    }

    #[test]
    fn a_text_that_moves_to_the_next_column_is_another_row() {
        let mut one = row(1, [0; 32]);
        let mut other = one.clone();
        // The second pair would be the same bytes if no text stood behind its length.
        for (early, late) in [
            (("ab", "c"), ("a", "bc")),
            (("a\0\u{1}b", "c"), ("a", "b\0\u{1}c")),
        ] {
            (one.actor, one.action) = (early.0.to_owned(), early.1.to_owned());
            (other.actor, other.action) = (late.0.to_owned(), late.1.to_owned());
            assert_ne!(digest(&one), digest(&other));
        }
        other = one.clone();
        other.request = Some(String::new());
        assert_ne!(digest(&one), digest(&other), "null is not the empty text");
    }

    #[test]
    fn a_whole_chain_holds_and_each_kind_of_break_is_told_apart() {
        assert_eq!(walk(&chain(5), None), None);
        let mut rows = chain(5);
        rows[2].actor.push('x');
        assert_eq!(walk(&rows, None), Some((3, AuditBreak::ContentChanged)));
        rows[2].hash = digest(&rows[2]);
        assert_eq!(walk(&rows, None), Some((4, AuditBreak::LinkBroken)));
        let mut rows = chain(5);
        rows.remove(2);
        assert_eq!(walk(&rows, None), Some((4, AuditBreak::Gap)));
    }

    #[test]
    fn an_anchor_notices_a_chain_that_was_cut_or_hashed_anew() {
        let rows = chain(5);
        let anchor = |row: &AuditRow| AuditAnchor {
            position: row.position,
            hash: row.hash,
        };
        assert_eq!(walk(&rows, Some(anchor(&rows[3]))), None);
        let cut = walk(&rows[..3], Some(anchor(&rows[3])));
        assert_eq!(cut, Some((4, AuditBreak::Truncated)));
        let mut other = row(4, rows[2].hash);
        other.actor.push('x');
        other.hash = digest(&other);
        let anew = [&rows[..3], &[other]].concat();
        let found = walk(&anew, Some(anchor(&rows[3])));
        assert_eq!(found, Some((4, AuditBreak::Rewritten)));
    }
}
