//! Makes the dump of the present schema, once, when it is released.
//!
//! The store is filled through the API by real processes, so that it holds
//! what this program writes and nothing else: several versions, terms that
//! were replaced and taken back, releases in all three states, jobs in all
//! five. `sqlite3` and `pg_dump` write it down.

use std::process::Command;
use std::time::Duration;

use hyper::Method;
use serde_json::json;

use super::content::{Past, Told};
use super::{folder, kind};
use crate::place::Place;
use crate::ward::{JOB_TIME_MAX, Person, Ward, is_over, records, schema};

const HIERARCHY: &str = "wards";

/// Subjects that the story speaks of: replaced, taken back, imported, excluded, none.
const SUBJECTS: [&str; 5] = ["p1", "p2", "p3", "p4", "p5"];

/// Terms, versions and jobs that are over.
async fn fill(person: &Person) -> Vec<String> {
    let uploaded = person.upload("replace", records(0, 80)).await;
    uploaded.expect("an answer");
    let uploaded = person.upload("append", records(80, 40)).await;
    uploaded.expect("an answer");
    for terms in [json!({"max_leakage": 0.5}), json!({"sensitive": ["age"]})] {
        person.put_terms("p1", &terms).await.expect("an answer");
    }
    let terms = json!({"max_leakage": 0.5});
    person.put_terms("p2", &terms).await.expect("an answer");
    let path = format!("{}/preferences/p2", person.dataset_path());
    let gone = person.send(Method::DELETE, &path, "application/json", "");
    assert_eq!(gone.await.expect("an answer").status, 200);
    let many = "subject,max_leakage,exclude\np3,0.5,\np4,,true\n".to_owned();
    person.import_terms(many).await.expect("an answer");

    let (mut jobs, mut releases) = (Vec::new(), Vec::new());
    for publish in ["automatic", "manual", "manual"] {
        let job = person.post_job(publish, 5).await.expect("an answer");
        let done = person.job_when(&job, JOB_TIME_MAX, is_over).await;
        let done = done.expect("an answer");
        assert_eq!(done["state"], "succeeded", "{done}");
        releases.push(done["release"].as_str().expect("a release").to_owned());
        jobs.push(job);
    }
    let path = format!("/v1/releases/{}/withdraw", releases[2]);
    let withdrawn = person.post(&path, &json!({})).await.expect("an answer");
    assert_eq!(withdrawn.status, 200);
    let mut infeasible = person.job("manual", 0);
    infeasible["parameters"]["k"] = json!(1_000);
    infeasible["parameters"]["max_excluded"] = json!(0.0);
    let queued = person
        .post("/v1/jobs", &infeasible)
        .await
        .expect("an answer");
    let queued = crate::ward::expect(202, queued);
    let job = queued["id"].as_str().expect("an id").to_owned();
    let failed = person.job_when(&job, JOB_TIME_MAX, is_over).await;
    assert_eq!(failed.expect("an answer")["state"], "failed");
    jobs.push(job);
    jobs
}

async fn story(place: &Place) -> Past {
    let server = place.launch().serve();
    let uploader = server.admin();
    let key = json!({"name": "trees", "roles": ["steward"], "datasets": null});
    let key = uploader.post("/v1/keys", &key).await.expect("a key");
    let tree: String = (0..7).map(|n| format!("w{n};{};*\n", n % 2)).collect();
    let path = format!("/v1/hierarchies/{HIERARCHY}");
    let client = server.client(key["token"].as_str().expect("shown once"));
    let put = client
        .send(Method::PUT, &path, "text/csv", tree.into())
        .await;
    assert_eq!(put.expect("an answer").status, 201);
    let mut schema = schema();
    schema["attributes"][2]["hierarchy"] = json!(HIERARCHY);
    let ward = Ward::with(&server, &schema).await;
    let mut jobs = fill(&ward.at(&server)).await;
    assert!(server.end_well());

    // One job is cancelled, one loses its worker, one is never begun.
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let person = ward.at(&idle);
    let cancelled = person.post_job("manual", 0).await.expect("an answer");
    let path = format!("/v1/jobs/{cancelled}/cancel");
    let answer = person.post(&path, &json!({})).await.expect("an answer");
    assert_eq!(answer.status / 100, 2);
    jobs.push(cancelled);
    let mut unfinished = Vec::new();
    for _ in 0..2 {
        unfinished.push(person.post_job("manual", 0).await.expect("an answer"));
    }
    assert!(idle.end_well());
    let mut killed = place.launch().failpoint("job-loaded").serve();
    killed.end(Duration::from_secs(30));
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let told = Told {
        ward,
        hierarchy: HIERARCHY.into(),
        subjects: SUBJECTS.map(str::to_owned).to_vec(),
        jobs,
    };
    let content = told.read(&idle).await;
    assert!(idle.end_well());
    Past {
        ward: told,
        unfinished,
        content,
    }
}

/// The store as SQL text.
fn dump(place: &Place) -> String {
    let mut command = if place.is_shared() {
        let mut command = Command::new("pg_dump");
        command.args(["--no-owner", "--inserts", "--dbname", place.url()]);
        command
    } else {
        let mut command = Command::new("sqlite3");
        command.arg(place.folder().join("vizard.db")).arg(".dump");
        command
    };
    let ran = command
        .output()
        .expect("the database's own program is there");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let text = String::from_utf8(ran.stdout).expect("text");
    // Leases name the machine that held them; which one it was is nobody's concern.
    let machine = rustix::system::uname();
    let machine = format!("'{}-", machine.nodename().to_string_lossy());
    let text = text.replace(&machine, "'machine-");
    // Orders to `psql`, settings of the session, and lines for people.
    let is_sql = |line: &&str| {
        !line.starts_with(['\\', '-']) && !line.starts_with("SET ") && !line.is_empty()
    };
    text.lines()
        .filter(is_sql)
        .map(|line| line.to_owned() + "\n")
        .collect()
}

async fn write(place: Place) {
    let past = story(&place).await;
    let store = place.look_inside().await;
    let number = store.schema_version().await.expect("a number");
    store.close().await.expect("it closes");
    let name = format!("{number:04}.{}", kind(&place));
    let file = past.file().to_string() + "\n";
    let written = [("sql", dump(&place)), ("json", file)];
    for (ending, text) in written {
        let path = folder().join(format!("{name}.{ending}"));
        std::fs::write(path, text).expect("it can be written");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes a file of the repository"]
async fn a_dump_of_the_present_schema_is_written() {
    write(Place::sqlite()).await;
    write(Place::postgres().expect("PostgreSQL is installed")).await;
}
