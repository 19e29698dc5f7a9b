//! Where `anonymize` writes: a release as a whole, a lineage for its owner,
//! and over nothing else.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::command;
use super::offline::{Desk, ended, sample, text};

/// Whether a folder is one whole release: every table has the digest that its
/// manifest says.
fn is_whole(desk: &Desk, out: &str) -> bool {
    let manifest = desk.document(&format!("{out}/manifest.json"));
    let tables = manifest["tables"].as_array().expect("tables").iter();
    tables.clone().count() > 0
        && tables.into_iter().all(|table| {
            let name = table["name"].as_str().expect("a name");
            let bytes = std::fs::read(desk.path(&format!("{out}/{name}.csv"))).unwrap_or_default();
            let digest = Sha256::digest(&bytes);
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            table["sha256"] == digest.as_str()
        })
}

/// Killed at every moment that matters, and at some that chance names: what
/// stands under the name is one release, the old one or the new one.
#[test]
fn a_release_in_place_of_another_is_never_half_replaced() {
    let desk = Desk::new();
    let records = sample("records.csv");
    let made = desk.anonymize(&records, "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let manifest = || std::fs::read(desk.path("out/manifest.json")).expect("it is there");
    let first = manifest();
    for (moment, is_new) in [
        ("release-before-its-name", false),
        ("release-has-its-name", true),
    ] {
        let before = manifest();
        let arguments = desk.arguments(&records, "out", &["--seed", "8"]);
        let killed = command(&arguments).env("VIZARD_FAILPOINT", moment).output();
        let killed = killed.expect("it starts");
        assert_eq!(killed.status.code(), None, "{}", text(&killed.stderr));
        assert!(is_whole(&desk, "out"), "{moment}");
        assert_eq!(manifest() != before, is_new, "{moment}");
    }
    assert_ne!(manifest(), first);
    for wait_ms in (0..16).map(|round| 100 + round * 50) {
        let arguments = desk.arguments(&records, "out", &["--seed", &wait_ms.to_string()]);
        let mut running = command(&arguments);
        let running = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut running = running.expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        running.kill().expect("a signal can be sent");
        running.wait().expect("it ends");
        assert!(is_whole(&desk, "out"), "after {wait_ms} ms");
    }
}

#[test]
fn a_folder_of_something_else_is_not_replaced() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("out")).unwrap();
    std::fs::write(desk.path("out/letters.txt"), "kept").unwrap();
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    ended(&made, 2, "holds `letters.txt`, which is of no release");
    assert_eq!(desk.files("out"), ["letters.txt"]);
    std::fs::write(desk.path("file"), "kept").unwrap();
    ended(
        &desk.anonymize(&sample("records.csv"), "file", &[]),
        2,
        "is no folder",
    );
    // An empty folder, and one through a link, take a release.
    std::fs::create_dir(desk.path("empty")).unwrap();
    symlink(desk.path("empty"), desk.path("link")).unwrap();
    for out in ["empty", "link"] {
        let made = desk.anonymize(&sample("records.csv"), out, &[]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        assert!(is_whole(&desk, "empty"));
    }
    let link = std::fs::symlink_metadata(desk.path("link")).unwrap();
    assert!(link.is_symlink());
}

#[test]
fn a_lineage_is_its_owners_and_takes_the_place_of_nothing_else() {
    let desk = Desk::new();
    let records = desk.path("records.csv");
    std::fs::copy(sample("records.csv"), &records).unwrap();
    let records = records.display().to_string();
    let given = std::fs::read(&records).unwrap();
    let path = |name: &str| desk.path(name).display().to_string();
    let refused = |lineage: &str, says: &str| {
        let mut arguments = desk.arguments(&records, "out", &[]);
        let at = arguments
            .iter()
            .position(|word| word == "--lineage")
            .unwrap();
        arguments[at + 1] = path(lineage);
        ended(&command(&arguments).output().unwrap(), 2, says);
        assert_eq!(std::fs::read(&records).unwrap(), given);
    };
    refused("records.csv", "would take the place of an input");
    symlink(&records, desk.path("linked.csv")).unwrap();
    refused("linked.csv", "would take the place of an input");
    refused("out/lineage.csv", "would be published with the release");
    std::fs::create_dir(desk.path("folder")).unwrap();
    refused("folder", "is there, and no file");
    // A link is replaced, not followed.
    std::fs::write(desk.path("target"), "kept").unwrap();
    symlink(desk.path("target"), desk.path("lineage.csv")).unwrap();
    let made = desk.anonymize(&records, "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert_eq!(std::fs::read(desk.path("target")).unwrap(), b"kept");
    for file in ["lineage.csv", "lineage.csv.seed"] {
        let metadata = std::fs::symlink_metadata(desk.path(file)).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let desk = Desk::new();
    let pipe = desk.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let pipe = pipe.display().to_string();
    ended(&desk.anonymize(&pipe, "out", &[]), 3, "is no plain file");
    ended(
        &desk.anonymize("/dev/zero", "out", &[]),
        3,
        "is no plain file",
    );
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let lineage = desk.path("lineage.csv");
    std::fs::remove_file(&lineage).unwrap();
    std::fs::rename(desk.path("pipe"), &lineage).unwrap();
    ended(&desk.verify("out"), 3, "is no plain file");
}
