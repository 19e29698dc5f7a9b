//! Anchors: a log that was cut or rewritten does not take them with it.

use tempfile::TempDir;
use vizard::store::{AnchorError, AnchorFile, AuditAnchor, AuditBreak};

use super::chain::unguarded_chain;
use super::stage::{Stage, on_both};

fn file(folder: &TempDir) -> AnchorFile {
    AnchorFile::new(folder.path().join("anchor"))
}

async fn an_anchor_moves_on_with_the_log_and_only_then(stage: &Stage) {
    let folder = TempDir::new().expect("a folder");
    let (file, store) = (file(&folder), stage.store.as_ref());
    let nothing = AuditAnchor {
        position: 0,
        hash: [0; 32],
    };
    assert_eq!(file.advance(store).await.expect("moved"), nothing);
    for position in 1..4 {
        stage.dataset().await;
        let moved = file.advance(store).await.expect("it is moved on");
        assert_eq!(moved.position, position);
        assert_eq!(file.advance(store).await.expect("it stays"), moved);
        assert_eq!(file.read().expect("it is read"), Some(moved));
        assert_eq!(file.compare(store).await.expect("it fits"), Some(moved));
    }
}

async fn an_anchor_stays_where_the_log_was_cut_or_rewritten(stage: &Stage) {
    let folder = TempDir::new().expect("a folder");
    let (file, store) = (file(&folder), stage.store.as_ref());
    let chain = unguarded_chain(stage).await;
    let anchor = file.advance(store).await.expect("it is moved on");
    let hash = stage.literal(&chain[5].hash);
    let broken = async |expected: AuditBreak| {
        for answer in [
            file.compare(store).await.err(),
            file.advance(store).await.err(),
        ] {
            match answer {
                Some(AnchorError::Broken { anchor: at, broken }) => {
                    assert_eq!((at, broken), (anchor, expected));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(file.read().expect("it is read"), Some(anchor), "it stays");
    };
    stage.sabotage("DELETE FROM audit WHERE position > 6").await;
    let head = format!("UPDATE audit_head SET position = 6, hash = {hash}");
    stage.sabotage(&head).await;
    broken(AuditBreak::Truncated).await;
    // Other rows in the place of those that were cut off.
    let insert = format!(
        "INSERT INTO audit SELECT 8, occurred_at, 'somebody', request_id, action, object_kind, \
         object_id, dataset_id, detail, previous, {hash} FROM audit WHERE position = 6"
    );
    stage.sabotage(&insert).await;
    broken(AuditBreak::Rewritten).await;
}

on_both!(
    an_anchor_moves_on_with_the_log_and_only_then,
    an_anchor_stays_where_the_log_was_cut_or_rewritten,
);
