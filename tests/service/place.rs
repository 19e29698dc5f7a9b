//! Where a test with real server processes keeps its store.

use tempfile::TempDir;

use super::common;
use super::common::process::ServerProcess;

/// A store for one test: embedded, or a database on the test cluster.
pub struct Place {
    pub folder: TempDir,
    pub url: String,
}

pub fn places() -> Vec<Place> {
    let folder = || tempfile::tempdir().expect("a temporary folder");
    let embedded = folder();
    let url = format!("sqlite:{}", embedded.path().join("vizard.db").display());
    let mut places = vec![Place {
        folder: embedded,
        url,
    }];
    if let Some(cluster) = common::postgres::cluster() {
        places.push(Place {
            folder: folder(),
            url: cluster.fresh_database(),
        });
    }
    places
}

impl Place {
    pub fn serve(&self, extra: &[&str]) -> ServerProcess {
        ServerProcess::start(&self.url, self.folder.path(), extra)
    }
}
