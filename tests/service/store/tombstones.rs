//! What was erased stays erased, also where an old backup is restored.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use vizard::ids::{DatasetId, ReleaseId};
use vizard::store::{
    Buried, PublishCheck, PublishDecision, ReleaseState, StoreError, StoreOptions, VersionMode,
};

use super::stage::{of_days, version};
use super::{Ground, Stage, act, sealed};

/// A sealed store with a journal.
struct Setting {
    folder: TempDir,
    path: PathBuf,
    stage: Stage,
}

/// Options with a master key and this journal.
fn journal(path: &Path) -> impl FnOnce(&mut StoreOptions) + use<> {
    let path = path.to_owned();
    move |options| {
        sealed(options);
        options.tombstones = Some(path);
    }
}

async fn begin(on_postgres: bool) -> Option<Setting> {
    let folder = TempDir::new().expect("a folder for the journal");
    let path = folder.path().join("tombstones");
    let stage = if on_postgres {
        Stage::postgres_with(journal(&path)).await?
    } else {
        Stage::sqlite_with(journal(&path)).await
    };
    Some(Setting {
        folder,
        path,
        stage,
    })
}

/// Makes a test on each database of every function over a `Setting`.
macro_rules! on_both_with_journal {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(super::begin(false).await.expect("a store")).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(setting) = super::begin(true).await {
                    super::$test(setting).await;
                }
            })+
        }
    };
}

async fn published(stage: &Stage, dataset: DatasetId) -> ReleaseId {
    let release = stage.draft_release(dataset).await;
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    let published = stage.store.release_publish(act(), release, allow.into());
    published.await.expect("published");
    release
}

fn gone<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(
        matches!(answer, Err(StoreError::NotFound { .. })),
        "{answer:?}"
    );
}

/// Stops, copies, starts again: the stage goes on, the copy is the backup.
async fn backed_up(stage: Stage, path: &Path) -> (Stage, Ground) {
    let ground = stage.stop().await;
    let backup = ground.backup();
    (ground.start(journal(path)).await, backup)
}

async fn a_restored_backup_is_erased_again_before_it_serves(setting: Setting) {
    let Setting {
        folder: _folder,
        path,
        stage,
    } = setting;
    let (kept, erased) = (stage.filled_dataset().await, stage.filled_dataset().await);
    let put = stage
        .store
        .preference_put(act(), erased, "1".to_owned(), json!({}));
    put.await.expect("it is kept");
    let draft = stage.draft_release(erased).await;
    let public = published(&stage, erased).await;
    let (stage, backup) = backed_up(stage, &path).await;
    stage
        .store
        .dataset_erase(act(), erased)
        .await
        .expect("erased");
    stage.stop().await;

    let restored = backup.backup().start(sealed).await;
    restored
        .store
        .dataset_get(erased)
        .await
        .expect("without a journal it is back");
    restored.stop().await;

    let restored = backup.start(journal(&path)).await;
    let store = &restored.store;
    gone(store.dataset_get(erased).await);
    gone(store.chunk_get(erased, 1, 0).await);
    gone(store.release_get(draft).await);
    gone(store.release_lineage(public).await);
    assert_eq!(
        store.preferences_at(erased, 1).await.expect("an answer"),
        []
    );
    let row = store
        .release_get(public)
        .await
        .expect("what is public stays");
    assert_eq!(row.state, ReleaseState::Published);
    assert_eq!(
        store.chunk_get(kept, 1, 0).await.expect("it is kept"),
        b"records"
    );
    let page = store
        .audit_list(2, None, Default::default())
        .await
        .expect("rows");
    let rows: Vec<(&str, &str)> = page
        .items
        .iter()
        .map(|row| (row.actor.as_str(), row.action.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("restore", "reapply_tombstone"),
            ("restore", "erase_dataset")
        ]
    );
    // Applied once: a later start finds nothing to do.
    let again = store.tombstones_reapply().await.expect("an answer");
    assert_eq!(again, Default::default());
}

async fn a_restored_backup_is_purged_again_and_what_came_later_stays(setting: Setting) {
    let Setting {
        folder: _folder,
        path,
        stage,
    } = setting;
    let dataset = stage.filled_dataset().await;
    let (stage, backup) = backed_up(stage, &path).await;
    let set = stage.store.retention_set(act(), dataset, of_days(Some(1)));
    set.await.expect("it is set");
    stage.let_days_pass(1).await;
    let purge = stage.store.retention_purge(act(), dataset, None).await;
    purge.expect("an answer").expect("its time is up");
    let later = version(dataset, 2, VersionMode::Append, &[b"later"]);
    stage
        .store
        .version_commit(act(), later)
        .await
        .expect("a version");
    let (stage, later_backup) = backed_up(stage, &path).await;
    stage.stop().await;

    let restored = backup.start(journal(&path)).await;
    gone(restored.store.chunk_get(dataset, 1, 0).await);
    let row = restored
        .store
        .dataset_get(dataset)
        .await
        .expect("it is there");
    assert_eq!((row.version, row.records), (2, 0));
    // The backup from after the purge has it already, and keeps what came later.
    let restored = later_backup.start(journal(&path)).await;
    let chunk = restored.store.chunk_get(dataset, 3, 0).await;
    assert_eq!(chunk.expect("it is kept"), b"later");
}

async fn a_release_that_was_withdrawn_is_not_public_again(setting: Setting) {
    let Setting {
        folder: _folder,
        path,
        stage,
    } = setting;
    let dataset = stage.filled_dataset().await;
    let release = published(&stage, dataset).await;
    let (stage, backup) = backed_up(stage, &path).await;
    let withdrawn = stage.store.release_withdraw(act(), release);
    withdrawn.await.expect("withdrawn");
    // A second time leaves no second tombstone.
    let again = stage.store.release_withdraw(act(), release);
    again.await.expect("it stays so");
    let lines = std::fs::read_to_string(&path).expect("a text");
    assert_eq!(lines.lines().count(), 1);
    stage.stop().await;
    let restored = backup.start(journal(&path)).await;
    let row = restored
        .store
        .release_get(release)
        .await
        .expect("it is there");
    assert_eq!(row.state, ReleaseState::Withdrawn);
    gone(
        restored
            .store
            .table_piece(release, "microdata".to_owned(), 0)
            .await,
    );
}

async fn tombstones_of_what_the_backup_never_had_are_kept_and_harm_nobody(setting: Setting) {
    let Setting {
        folder: _folder,
        path,
        stage,
    } = setting;
    let (stage, backup) = backed_up(stage, &path).await;
    let dataset = stage.filled_dataset().await;
    stage
        .store
        .dataset_erase(act(), dataset)
        .await
        .expect("erased");
    stage.stop().await;
    let restored = backup.start(journal(&path)).await;
    let tombstones = restored.store.tombstone_list().await.expect("a list");
    let buried: Vec<Buried> = tombstones.iter().map(|tombstone| tombstone.what).collect();
    assert_eq!(buried, [Buried::Dataset(dataset)]);
}

async fn a_journal_given_late_takes_in_what_the_table_has(setting: Setting) {
    let Setting {
        folder,
        path,
        stage,
    } = setting;
    let dataset = stage.filled_dataset().await;
    stage
        .store
        .dataset_erase(act(), dataset)
        .await
        .expect("erased");
    let first = std::fs::read_to_string(&path).expect("a text");
    let ground = stage.stop().await;
    let late = folder.path().join("late");
    ground.start(journal(&late)).await.stop().await;
    assert_eq!(std::fs::read_to_string(&late).expect("a text"), first);
}

async fn an_erasure_is_not_committed_before_the_journal_has_it(setting: Setting) {
    let Setting {
        folder: _folder,
        path,
        stage,
    } = setting;
    let dataset = stage.filled_dataset().await;
    // The file goes on, but another one holds it locked for longer than the test.
    let holder = std::fs::File::open(&path).expect("the journal");
    holder.lock().expect("it is free");
    let store = stage.store.clone();
    let erasing = tokio::spawn(async move { store.dataset_erase(act(), dataset).await });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(
        !erasing.is_finished(),
        "not answered before the journal has it"
    );
    let row = stage.store.dataset_get(dataset).await;
    row.expect("not committed before the journal has it");
    holder.unlock().expect("it was locked");
    erasing.await.expect("no panic").expect("erased");
    assert_eq!(
        std::fs::read_to_string(&path)
            .expect("a text")
            .lines()
            .count(),
        1
    );
}

on_both_with_journal!(
    a_restored_backup_is_erased_again_before_it_serves,
    a_restored_backup_is_purged_again_and_what_came_later_stays,
    a_release_that_was_withdrawn_is_not_public_again,
    tombstones_of_what_the_backup_never_had_are_kept_and_harm_nobody,
    a_journal_given_late_takes_in_what_the_table_has,
    an_erasure_is_not_committed_before_the_journal_has_it,
);
