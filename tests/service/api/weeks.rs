//! Twelve weeks of one population over HTTP: each week some leave, as many come,
//! and half as many have another value; each week a release is published. In each
//! mode the service finds the series safe, and the attack on all of its releases
//! together finds nobody with fewer than l values left. A release that keeps
//! nothing is refused.
//!
//! With `VIZARD_WEEKS=FILE[,PEOPLE]` the people are those of `records.csv` of
//! acs100k, and with `--nocapture` the weeks are printed as a table.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    weeks_of_increments,
    weeks_of_kept_sets,
    weeks_of_sets_that_show_changes,
    weeks_of_kept_groups
);

const WEEKS: u64 = 12;
/// People of the first week, and one in so many of them leaves each week.
const PEOPLE: usize = 400;
const LEAVES: u64 = 50;
/// No value of more than one in so many people of a class.
const L: u64 = 3;

async fn weeks_of_increments(server: Server) {
    tell(
        server,
        json!({"mode": "increments"}),
        "anatomy",
        json!({"l": L}),
    )
    .await;
}

async fn weeks_of_kept_sets(server: Server) {
    tell(server, json!({"mode": "invariant"}), "arp", json!({"l": L})).await;
}

async fn weeks_of_sets_that_show_changes(server: Server) {
    let series = json!({"mode": "invariant", "changes": "visible"});
    tell(server, series, "arp", json!({"l": L})).await;
}

async fn weeks_of_kept_groups(server: Server) {
    let parameters = json!({"k": 4, "l": L});
    let series = json!({"mode": "nested", "max_companions": 0.5});
    tell(server, series, "mondrian", parameters).await;
}

/// Somebody by number, sex, age, hours a week and occupation.
#[derive(Clone)]
struct Person {
    number: u64,
    known: [String; 3],
    occupation: String,
}

/// Who could come, in order.
fn pool(leaves: u64) -> (Vec<Person>, usize, u64) {
    let Ok(wanted) = std::env::var("VIZARD_WEEKS") else {
        let occupation = |at: u64| format!("o{at}");
        let made = (0..3 * PEOPLE as u64).map(|number| Person {
            number,
            known: [number % 2, 20 + number * 13 % 60, 20 + number * 7 % 30]
                .map(|known| known.to_string()),
            occupation: occupation(mixed(number, 0) % 12),
        });
        return (made.collect(), PEOPLE, leaves);
    };
    let (file, people) = wanted.split_once(',').unwrap_or((&wanted, "20000"));
    let people: usize = people.parse().expect("a number of people");
    let text = std::fs::read_to_string(file).expect("records.csv of acs100k");
    let records = (0..).zip(text.lines().skip(1));
    let read = records.map(|(number, line)| {
        let cells: Vec<&str> = line.split(',').collect();
        Person {
            number,
            known: [cells[1], cells[2], cells[7]].map(str::to_owned),
            occupation: format!("o{}", cells[8]),
        }
    });
    (read.collect(), people, 100)
}

/// A number that looks like chance.
fn mixed(one: u64, other: u64) -> u64 {
    let mixed = (one + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (other + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33
}

/// The people of the next week: some left, some changed, others came.
fn next_week(
    people: &mut Vec<Person>,
    waiting: &mut std::vec::IntoIter<Person>,
    week: u64,
    leaves: u64,
) {
    let before = people.len();
    people.retain(|person| !mixed(person.number, week).is_multiple_of(leaves));
    let left = before - people.len();
    let occupations: Vec<String> = people
        .iter()
        .map(|person| person.occupation.clone())
        .collect();
    for person in people.iter_mut() {
        if mixed(person.number, 1_000 + week).is_multiple_of(2 * leaves) {
            let at = mixed(person.number, 2_000 + week) as usize % occupations.len();
            person.occupation.clone_from(&occupations[at]);
        }
    }
    people.extend(waiting.take(left));
}

async fn dataset(steward: &Client) -> String {
    let quasi =
        |name: &str, kind: &str| json!({"name": name, "role": "quasi_identifier", "type": kind});
    let schema = json!({
        "name": "workers", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            quasi("sex", "integer"), quasi("age", "integer"), quasi("hours", "integer"),
            {"name": "occupation", "role": "sensitive", "type": "categorical"}
        ]
    });
    let made = steward.call("create_dataset").json(&schema).send().await;
    made.expect(201)["id"].as_str().expect("an id").to_owned()
}

async fn replace(steward: &Client, dataset: &str, people: &[Person]) {
    let mut records = String::from("id,sex,age,hours,occupation\n");
    for person in people {
        let known = person.known.join(",");
        records.push_str(&format!(
            "p{},{known},{}\n",
            person.number, person.occupation
        ));
    }
    let upload = steward.call("upload_records").at("id", dataset);
    let upload = upload.query("mode", "replace");
    upload.body("text/csv", records).send().await.expect(201);
}

async fn tell(server: Server, series: Value, engine: &str, parameters: Value) {
    let mode = series["mode"].as_str().expect("a mode");
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let leaves = match mode {
        // Those who came have to fill classes of their own.
        "increments" => LEAVES / 5,
        // Of whole groups of few people many companions leave with each.
        "nested" => LEAVES * 4,
        _ => LEAVES,
    };
    let (mut pool, first, leaves) = pool(leaves);
    let mut waiting = pool.split_off(first).into_iter();
    let mut people = pool;
    let id = dataset(&steward).await;
    let mut job = json!({
        "dataset": id, "engine": engine, "parameters": parameters,
        "series": series, "report": {"queries": 50}, "publish": "automatic",
    });
    println!(
        "| mode | week | people | rows | waiting | companions | counterfeits | old set | renewed | median error | seconds |"
    );
    for week in 0..WEEKS {
        if week > 0 {
            next_week(&mut people, &mut waiting, week, leaves);
        }
        replace(&steward, &id, &people).await;
        let started = Instant::now();
        let release = story::release(&steward, &job).await;
        let seconds = started.elapsed().as_secs_f64();
        let seen = steward.call("get_release").at("id", &release).send().await;
        let seen = seen.expect(200);
        let manifest = &seen["manifest"];
        assert_eq!(seen["state"], "published", "{mode}, week {week}: {seen}");
        for other in manifest["composition"].as_array().into_iter().flatten() {
            assert_eq!(other["safe"], true, "{mode}, week {week}: {other}");
        }
        let told = story::attack(&steward, &release, ("composition", "occupation")).await;
        assert_eq!(told.is_null(), week == 0 || mode == "increments", "{told}");
        for figure in ["certain", "below_l", "one_candidate"] {
            assert!(
                told["figures"][figure].as_f64().unwrap_or(0.0) == 0.0,
                "{mode}, week {week}: {told}"
            );
        }
        let report = steward.call("get_release_report").at("id", &release);
        let report = report.send().await.expect(200);
        let kept = &manifest["kept"];
        println!(
            "| {mode}, {engine} | {week} | {} | {} | {} | {} | {} | {} | {} | {} | {seconds:.1} |",
            people.len(),
            manifest["records"],
            kept["waiting"],
            kept["companions"],
            kept["attributes"][0]["counterfeits"],
            kept["attributes"][0]["outdated"],
            kept["attributes"][0]["renewed"],
            report["measures"]["query_error"]["value"]["relative_error"]["median"],
        );
    }
    // The same week again, as if nothing was public.
    job["series"] = Value::Null;
    job["publish"] = json!("manual");
    let alone = story::release(&steward, &job).await;
    let publish = steward.call("publish_release").at("id", &alone);
    let refused = publish.json(&json!({})).send().await;
    refused.expect_problem(409, "composition");
    let told = story::attack(&steward, &alone, ("composition", "occupation")).await;
    println!("| {mode}, then anew | {} |", told["figures"]);
}
