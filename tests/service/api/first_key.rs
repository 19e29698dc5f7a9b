//! How the operator of an empty store gets in.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use tempfile::TempDir;
use vizard::clock::SystemClock;
use vizard::config::{Secret, Settings};
use vizard::http::auth::{AdminKey, KeyError, ensure_admin_key};
use vizard::store::{Store, StoreOptions, open};

use super::Server;
use crate::common::postgres::cluster;

fn settings(folder: &TempDir, store: Option<String>) -> Settings {
    Settings {
        store,
        data_dir: folder.path().to_owned(),
        ..Settings::default()
    }
}

async fn opened(settings: &Settings) -> Arc<Store> {
    let options = StoreOptions::new(settings.store_url());
    open(options, Arc::new(SystemClock))
        .await
        .expect("it opens")
}

#[tokio::test]
async fn the_first_key_of_an_embedded_store_is_written_for_its_owner_alone() {
    let folder = TempDir::new().expect("a folder");
    let settings = settings(&folder, None);
    let store = opened(&settings).await;
    // A file of an earlier, failed start is in the way.
    let path = folder.path().join("admin-key");
    std::fs::write(&path, "old").expect("written");
    let made = ensure_admin_key(store.as_ref(), &settings)
        .await
        .expect("a way in");
    let AdminKey::Written(written) = made else {
        panic!("{made:?}");
    };
    assert_eq!(written, path);
    let mode = std::fs::metadata(&path)
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(&path).expect("the token");
    let again = ensure_admin_key(store.as_ref(), &settings)
        .await
        .expect("a way in");
    assert!(matches!(again, AdminKey::Present), "{again:?}");
    assert_eq!(std::fs::read_to_string(&path).expect("the token"), token);
    store.close().await.expect("it closes");
    drop(store);

    let server = Server::sqlite_at(&settings).await;
    let admin = server.anyone().with(token.trim());
    admin.call("list_keys").send().await.expect(200);
    admin
        .call("list_datasets")
        .send()
        .await
        .expect_problem(403, "forbidden");
}

#[tokio::test]
async fn the_first_key_of_a_shared_store_is_written_once_and_made_by_one_process() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (folder, elsewhere) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("one"),
    );
    let url = cluster.fresh_database();
    let shared = settings(&folder, Some(url.clone()));
    let apart = settings(&elsewhere, Some(url));
    let store = opened(&shared).await;
    // Two processes with one folder, and one with another.
    let (first, second, third) = tokio::join!(
        ensure_admin_key(store.as_ref(), &shared),
        ensure_admin_key(store.as_ref(), &shared),
        ensure_admin_key(store.as_ref(), &apart),
    );
    let ways = [first, second, third].map(|way| way.expect("a way in"));
    let written: Vec<_> = ways
        .iter()
        .filter_map(|way| match way {
            AdminKey::Written(path) => Some(path),
            _ => None,
        })
        .collect();
    let [path] = written[..] else {
        panic!("{ways:?}");
    };
    let files = [&folder, &elsewhere].map(|folder| folder.path().join("admin-key"));
    assert_eq!(files.iter().filter(|file| file.exists()).count(), 1);
    let mode = std::fs::metadata(path)
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(path).expect("the token");
    let server = Server::postgres_at(&shared.store_url(), shared.clone()).await;
    let admin = server.anyone().with(token.trim());
    admin.call("list_keys").send().await.expect(200);
}

#[tokio::test]
async fn a_chosen_key_that_is_easy_to_guess_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let mut settings = settings(&folder, None);
    let store = opened(&settings).await;
    for guessable in ["x".repeat(32), "changeme".repeat(8), "7f3a9c0e".into()] {
        settings.admin_key = Some(Secret::new(guessable));
        let refused = ensure_admin_key(store.as_ref(), &settings).await;
        assert!(matches!(refused, Err(KeyError::Guessable(_))));
    }
    let random = "d41a6c0f93be27508e1f4b7aa95c3d60";
    settings.admin_key = Some(Secret::new(random));
    let chosen = ensure_admin_key(store.as_ref(), &settings)
        .await
        .expect("a way in");
    assert!(matches!(chosen, AdminKey::Chosen));
    assert!(!store.admin_key_exists().await.expect("it answers"));
}
