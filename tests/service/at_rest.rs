//! What is on the disk, with real server processes: the master key is rotated
//! while they run, and a restored backup is erased again before it serves.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection};
use vizard::cli::client::Client;

use super::common;
use super::common::process::{ServerProcess, client_of, ended};
use super::place::{Place, places};

const ONE: &str = "one AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
const TWO: &str = "two ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n";

const SUBJECT: &str = "canary-of-a-subject-6914";

impl Place {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a command that ends by itself.
    fn vizard(&self, arguments: &[&str], more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
        command.args(arguments).args(["--store", &self.url]);
        ended(command.arg("--data").arg(self.folder.path()).args(more))
    }

    /// Copies the store, which nobody has open, as a backup does.
    fn backup(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = if self.url.starts_with("sqlite:") {
            let copy = folder.path().join("vizard.db");
            std::fs::copy(self.folder.path().join("vizard.db"), &copy).expect("copied");
            format!("sqlite:{}", copy.display())
        } else {
            common::postgres::cluster()
                .expect("it is there")
                .copy_of(&self.url)
        };
        Self { folder, url }
    }
}

fn write_private(path: &str, text: &str) {
    std::fs::write(path, text).expect("it is written");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, private).expect("it is its owner's");
}

async fn dataset(server: &ServerProcess) -> String {
    let uploader = client_of(server, "uploader").await;
    let schema = json!({
        "name": "wards", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "cost", "role": "sensitive", "type": "integer"}]
    });
    let dataset = uploader.post("/v1/datasets", &schema).await.unwrap();
    let id = dataset["id"].as_str().unwrap().to_owned();
    let records = Bytes::from(format!("id,ward,cost\n{SUBJECT},red,100\np2,blue,200\n"));
    let path = format!("/v1/datasets/{id}/records");
    let sent = uploader.send(Method::POST, &path, "text/csv", records);
    sent.await.unwrap().json().unwrap();
    let consent = client_of(server, "consent").await;
    let terms = Bytes::from(json!({"max_leakage": 0.25}).to_string());
    let path = preference(&id);
    let sent = consent.send(Method::PUT, &path, "application/json", terms);
    sent.await.unwrap().json().unwrap();
    id
}

fn preference(dataset: &str) -> String {
    format!("/v1/datasets/{dataset}/preferences/{SUBJECT}")
}

async fn terms(consent: &Client, dataset: &str) -> Value {
    let answer = consent.get(&preference(dataset)).await.expect("an answer");
    answer.json().expect("terms")["terms"]["max_leakage"].clone()
}

/// Whether a text stands anywhere in the files of a store.
fn stands_in_files(place: &Place, text: &str) -> bool {
    stands_below(place.folder.path(), text.as_bytes())
}

/// Whether these bytes stand in any file below a folder.
fn stands_below(folder: &Path, bytes: &[u8]) -> bool {
    let files = std::fs::read_dir(folder).expect("a folder");
    // A database removes files of its own meanwhile.
    let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths.any(|path| {
        if path.is_dir() {
            stands_below(&path, bytes)
        } else {
            let read = std::fs::read(path).unwrap_or_default();
            read.windows(bytes.len()).any(|place| place == bytes)
        }
    })
}

#[tokio::test]
async fn an_erasure_is_over_when_no_reader_keeps_its_bytes_any_more() {
    let place = places().remove(0);
    let server = place.serve(&[]);
    let id = dataset(&server).await;
    assert!(stands_in_files(&place, SUBJECT));
    let file = place.folder.path().join("vizard.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
    let mut reader = options.connect().await.expect("a neighbour");
    // Somebody who copies the file reads all the while.
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM preference;")
        .execute(&mut reader)
        .await
        .expect("it reads");

    let steward = client_of(&server, "steward").await;
    let path = format!("/v1/datasets/{id}");
    let sent = steward.send(Method::DELETE, &path, "application/json", Bytes::new());
    let sent = sent.await.expect("an answer");
    assert_eq!(sent.status, 202);
    assert_eq!(sent.json().expect("JSON")["complete"], false);
    // The log alone: to close another file of the store would give up the lock
    // that this process reads under.
    let log = std::fs::read(place.folder.path().join("vizard.db-wal")).expect("the log");
    let stands = |own: &[u8]| own == SUBJECT.as_bytes();
    assert!(log.windows(SUBJECT.len()).any(stands), "the reader's pages");
    assert_eq!(steward.get(&path).await.expect("an answer").status, 404);
    let state = async || {
        let state = steward.get(&format!("{path}/erasure")).await;
        state.expect("an answer").json().expect("JSON")
    };
    let held_up = state().await;
    assert!(held_up["erased_at"].is_string(), "{held_up}");
    assert_eq!(held_up["completed_at"], Value::Null);

    reader.close().await.expect("it ends");
    let complete = async {
        while state().await["completed_at"].is_null() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let limit = std::time::Duration::from_secs(60);
    let complete = tokio::time::timeout(limit, complete).await;
    complete.expect("it is wiped when nobody reads");
    assert!(!stands_in_files(&place, SUBJECT));
    assert!(server.terminate());
}

#[tokio::test]
async fn an_erasure_that_nobody_holds_up_is_over_at_once_and_gives_its_room_back() {
    for place in places() {
        let server = place.serve(&[]);
        let id = dataset(&server).await;
        let uploader = client_of(&server, "uploader").await;
        let rows = (0..60_000).map(|n| format!("{SUBJECT}-{n},ward-{},{n}\n", n % 900));
        let records = Bytes::from(format!("id,ward,cost\n{}", rows.collect::<String>()));
        let path = format!("/v1/datasets/{id}");
        let upload = format!("{path}/records?mode=replace");
        let sent = uploader.send(Method::POST, &upload, "text/csv", records);
        sent.await.unwrap().json().unwrap();
        let length = || {
            let files = ["vizard.db", "vizard.db-wal"].map(|name| {
                let file = std::fs::metadata(place.folder.path().join(name));
                file.map_or(0, |file| file.len())
            });
            files.iter().sum::<u64>()
        };
        let before = length();
        let steward = client_of(&server, "steward").await;
        let sent = steward.send(Method::DELETE, &path, "application/json", Bytes::new());
        let sent = sent.await.expect("an answer");
        assert_eq!(sent.status, 200);
        // PostgreSQL writes over nothing.
        let is_embedded = place.url.starts_with("sqlite:");
        let remains = ["until_overwritten", "nothing"][usize::from(is_embedded)];
        let sent = sent.json().expect("JSON");
        assert_eq!(
            (&sent["complete"], &sent["remains"]),
            (&json!(is_embedded), &json!(remains))
        );
        let state = steward.get(&format!("{path}/erasure")).await;
        let state = state.expect("an answer").json().expect("JSON");
        assert_eq!(state["completed_at"].is_string(), is_embedded, "{state}");
        assert_eq!(state["remains"], remains);
        assert!(!stands_in_files(&place, SUBJECT));
        assert!(server.terminate());
        let after = length();
        assert!(
            before == 0 || after < before / 2,
            "{after} of {before} bytes"
        );
    }
}

#[tokio::test]
async fn the_master_key_is_rotated_while_the_server_runs() {
    for place in places() {
        let keys = place.path("master.keys");
        write_private(&keys, ONE);
        let given = ["--master-key-file", keys.as_str()];
        let server = place.serve(&given);
        let first = dataset(&server).await;
        let consent = client_of(&server, "consent").await;

        write_private(&keys, &format!("{TWO}{ONE}"));
        let rotated = place.vizard(&["keys"], &[&given[..], &["rotate-master"]].concat());
        let said = String::from_utf8_lossy(&rotated.stdout).into_owned();
        assert!(rotated.status.success(), "{said}");
        assert!(said.starts_with("2 wrapped anew\t2 under"), "{said}");
        assert_eq!(
            terms(&consent, &first).await,
            json!(0.25),
            "read while it runs"
        );
        let second = dataset(&server).await;
        // The earlier line goes; the same process goes on.
        write_private(&keys, TWO);
        assert_eq!(terms(&consent, &second).await, json!(0.25));
        assert!(server.terminate());

        let server = place.serve(&given);
        let consent = client_of(&server, "consent").await;
        for dataset in [&first, &second] {
            assert_eq!(terms(&consent, dataset).await, json!(0.25));
        }
        assert!(server.terminate());

        write_private(&keys, ONE);
        let port = ["--listen", "127.0.0.1:0"];
        for refused in [
            place.vizard(&["serve"], &[&given[..], &port].concat()),
            place.vizard(&["serve"], &port),
        ] {
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success());
            assert!(said.contains("`two`"), "{said}");
            assert!(!said.contains("AAEC"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_master_key_file_that_others_may_read_is_refused() {
    let place = places().remove(0);
    let keys = place.path("master.keys");
    write_private(&keys, ONE);
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644)).expect("set");
    let refused = place.vizard(
        &["serve"],
        &["--listen", "127.0.0.1:0", "--master-key-file", &keys],
    );
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("0644") && said.contains("chmod 600"),
        "{said}"
    );
    assert!(
        !Path::new(&place.path("vizard.db")).exists(),
        "nothing was begun"
    );
}

#[tokio::test]
async fn a_restored_backup_is_erased_again_before_the_first_answer() {
    for place in places() {
        let outside = tempfile::tempdir().expect("a folder elsewhere");
        let journal = outside.path().join("tombstones").display().to_string();
        let given = ["--tombstones", journal.as_str()];
        let server = place.serve(&given);
        let (kept, erased) = (dataset(&server).await, dataset(&server).await);
        assert!(server.terminate());
        let backup = place.backup();
        let server = place.serve(&given);
        let steward = client_of(&server, "steward").await;
        let path = format!("/v1/datasets/{erased}");
        let sent = steward.send(Method::DELETE, &path, "application/json", Bytes::new());
        sent.await.expect("it is erased");
        // No orderly end: what was answered is in the journal.
        server.kill();

        let server = backup.serve(&given);
        let steward = client_of(&server, "steward").await;
        let gone = steward.get(&path).await.expect("an answer");
        assert_eq!(gone.status, 404, "the first answer");
        let consent = client_of(&server, "consent").await;
        let gone = consent.get(&preference(&erased)).await;
        assert_eq!(gone.expect("an answer").status, 404);
        assert_eq!(terms(&consent, &kept).await, json!(0.25));
        assert!(server.terminate());
    }
}

/// Everything that PostgreSQL has in memory is in its files afterwards.
async fn checkpoint(url: &str) {
    let mut connection = PgConnection::connect(url).await.expect("it answers");
    let done = connection.execute("CHECKPOINT").await;
    done.expect("the files are written");
    connection.close().await.expect("it ends");
}

/// What `DELETE` answers, and what is told of a dataset's erasure afterwards.
async fn erased(server: &ServerProcess, path: &str, dataset: &str) -> [(u16, Value); 2] {
    let steward = client_of(server, "steward").await;
    let sent = steward.send(Method::DELETE, path, "application/json", Bytes::new());
    let sent = sent.await.expect("an answer");
    let state = format!("/v1/datasets/{dataset}/erasure");
    let state = steward.get(&state).await.expect("an answer");
    [sent, state].map(|answer| (answer.status, answer.json().expect("JSON")))
}

#[tokio::test]
async fn an_erasure_on_postgres_claims_no_more_than_its_files_show() {
    let Some(cluster) = common::postgres::cluster_of_its_own() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let url = cluster.fresh_database();
    let place = Place { folder, url };
    let stands = async || {
        checkpoint(&place.url).await;
        stands_below(&cluster.files(), SUBJECT.as_bytes())
    };
    let keys = place.path("master.keys");
    write_private(&keys, ONE);

    // Sealed first: nothing that is not sealed was in these files.
    let server = place.serve(&["--master-key-file", &keys]);
    let sealed = dataset(&server).await;
    assert!(!stands().await, "it is sealed");
    // One person of it: the dataset's keys stay, and open what stays.
    let person = format!("/v1/datasets/{sealed}/subjects/{SUBJECT}");
    let [(status, answer), _] = erased(&server, &person, &sealed).await;
    assert_eq!((status, &answer["complete"]), (200, &json!(false)));
    assert_eq!(answer["remains"], "until_overwritten");
    let path = format!("/v1/datasets/{sealed}");
    let [(status, answer), (_, state)] = erased(&server, &path, &sealed).await;
    assert_eq!((status, &answer["complete"]), (200, &json!(true)));
    assert_eq!(
        (&answer["remains"], &state["remains"]),
        (&json!("sealed"), &json!("sealed"))
    );
    assert!(state["completed_at"].is_string(), "{state}");
    assert!(!stands().await, "what stays is sealed, as the answer says");
    assert!(server.terminate());

    let server = place.serve(&[]);
    let plain = dataset(&server).await;
    assert!(stands().await, "it is not sealed");
    let path = format!("/v1/datasets/{plain}");
    let [(status, answer), (_, state)] = erased(&server, &path, &plain).await;
    assert!(stands().await, "where nothing stays, less may be claimed");
    assert_eq!((status, &answer["complete"]), (200, &json!(false)));
    assert_eq!(
        (&answer["remains"], &state["remains"]),
        (&json!("until_overwritten"), &json!("until_overwritten"))
    );
    assert!(state["erased_at"].is_string(), "{state}");
    assert_eq!(state["completed_at"], Value::Null, "{state}");
    // The service does no more, and nobody is to wait for it.
    let metrics = steward_metrics(&server).await;
    assert!(
        metrics.contains("vizard_erasures_incomplete 0"),
        "{metrics}"
    );
    freed(&place.url).await;
    assert!(server.terminate());

    // What the operator's guide says to do does what it says.
    let guide = std::fs::read_to_string("docs/OPERATING.md").expect("the guide");
    let (_, steps) = guide
        .split_once("```sql\n-- In a pause")
        .expect("the steps");
    let (steps, _) = steps.split_once("```").expect("their end");
    let mut connection = PgConnection::connect(&place.url).await.expect("it answers");
    for step in steps.lines().skip(1).filter(|line| !line.starts_with("--")) {
        let done = connection.execute(AssertSqlSafe(step)).await;
        done.unwrap_or_else(|error| panic!("{step}: {error}"));
    }
    connection.close().await.expect("it ends");
    assert!(!stands().await, "all is gone after the steps");
}

/// The metrics of a server.
async fn steward_metrics(server: &ServerProcess) -> String {
    let client = client_of(server, "steward").await;
    let answer = client.get("/metrics").await.expect("an answer");
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// Waits until the room of chunks and terms is free for what comes next.
async fn freed(url: &str) {
    let mut connection = PgConnection::connect(url).await.expect("it answers");
    let held = "SELECT sum(pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0))::bigint \
        FROM pg_class WHERE relname IN ('chunk', 'preference')";
    for _ in 0..300 {
        let bytes: i64 = sqlx::query_scalar(held)
            .fetch_one(&mut connection)
            .await
            .expect("a size");
        if bytes == 0 {
            return connection.close().await.expect("it ends");
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the room of what was erased is not free");
}
