//! The operator's floors: jobs and drafts below them stay where they are.

use serde_json::{Value, json};
use vizard::config::{SecondSteward, Settings};
use vizard_anonymizer::privacy::Floors;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_job_with_k_one_is_refused_unless_the_operator_says_so,
    an_administrator_sets_floors_and_who_sees_the_dataset_sees_them,
    what_is_no_floor_is_refused,
    a_job_below_a_floor_is_told_each_parameter_and_who_set_it,
    a_draft_is_compared_with_the_floors_of_the_day_it_is_published,
    a_draft_whose_measured_risk_is_too_large_stays_one,
    a_draft_that_tells_too_much_to_a_model_stays_one,
    a_release_that_publishes_itself_stays_a_draft_below_the_floors,
    an_exception_cannot_publish_itself,
);

/// Floors of a dataset, set by the operator.
pub async fn set(server: &Server, dataset: &str, floors: Value) -> Value {
    let call = server.operator().call("set_floors").at("id", dataset);
    call.json(&floors).send().await.expect(200)
}

async fn post(steward: &Client, job: &Value) -> Answer {
    steward.call("create_job").json(job).send().await
}

async fn publish(steward: &Client, release: &str) -> Answer {
    steward
        .call("publish_release")
        .at("id", release)
        .send()
        .await
}

async fn state(steward: &Client, release: &str) -> Value {
    let seen = steward.call("get_release").at("id", release).send().await;
    seen.expect(200)["state"].clone()
}

async fn a_job_with_k_one_is_refused_unless_the_operator_says_so(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = story::job(&id);
    job["parameters"]["k"] = json!(1);
    let problem = post(&steward, &job).await;
    let problem = problem.expect_problem(422, "below-floor");
    assert_eq!(problem["parameter"], "k");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(
        detail.contains("k is 1, and k_min of the service is 2"),
        "{detail}"
    );

    let settings = Settings {
        floors: Floors::default(),
        ..Settings::default()
    };
    let lenient = if server.url.starts_with("sqlite:") {
        Server::sqlite_with(settings).await
    } else {
        Server::postgres_with(settings).await.expect("it is there")
    };
    let steward = lenient.key(&["uploader", "steward"]).await;
    let mut job = story::job(&story::filled_dataset(&steward).await);
    job["parameters"]["k"] = json!(1);
    post(&steward, &job).await.expect(202);
}

async fn an_administrator_sets_floors_and_who_sees_the_dataset_sees_them(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let none = json!({"k_min": null, "l_min": null, "t_max": null, "risk_max": null,
        "lift_max": null, "engines": null});
    let mut in_force = none.clone();
    in_force["k_min"] = json!(2);
    let seen = async || {
        let seen = steward.call("get_dataset").at("id", &id).send().await;
        seen.expect(200)["floors"].clone()
    };
    assert_eq!(seen().await, in_force);

    // Less than the service asks for changes nothing.
    let said = set(&server, &id, json!({"k_min": 1, "l_min": 4, "t_max": 0.25})).await;
    in_force["l_min"] = json!(4);
    in_force["t_max"] = json!(0.25);
    assert_eq!((&said["id"], &said["in_force"]), (&json!(id), &in_force));
    assert_eq!(
        (&said["own"]["k_min"], &said["own"]["risk_max"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(seen().await, in_force);

    // What is set replaces what was.
    let said = set(&server, &id, json!({"risk_max": 0.2, "engines": ["lgb"]})).await;
    let expected = json!({"k_min": 2, "l_min": null, "t_max": null, "risk_max": 0.2,
        "lift_max": null, "engines": ["lgb"]});
    assert_eq!(said["in_force"], expected);
    let said = set(&server, &id, json!({})).await;
    assert_eq!(said["own"], none);
    let forbidden = steward.call("set_floors").at("id", &id).json(&json!({}));
    forbidden.send().await.expect_problem(403, "forbidden");
}

async fn what_is_no_floor_is_refused(server: Server) {
    let id = story::dataset(&server.key(&["steward"]).await).await;
    for body in [
        json!({"k_min": 0}),
        json!({"l_min": 0}),
        json!({"k_min": -1}),
        json!({"k_min": "5"}),
        json!({"t_max": 1.1}),
        json!({"t_max": -0.1}),
        json!({"risk_max": 0}),
        json!({"risk_max": 1.5}),
        json!({"lift_max": 0.5}),
        json!({"engines": []}),
        json!({"engines": ["lgb", "no such"]}),
        json!({"k_max": 5}),
    ] {
        let call = server.operator().call("set_floors").at("id", &id);
        let refused = call.json(&body).send().await;
        refused.expect_problem(422, "invalid-body");
    }
}

async fn a_job_below_a_floor_is_told_each_parameter_and_who_set_it(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let job = |k: u32, l: u32| {
        let mut job = story::job(&id);
        job["parameters"] = json!({"k": k, "l": l});
        job
    };
    set(
        &server,
        &id,
        json!({"k_min": 5, "l_min": 3, "risk_max": 0.2}),
    )
    .await;
    post(&steward, &job(5, 3)).await.expect(202);
    let refused = post(&steward, &job(4, 2)).await;
    let detail = refused.expect_problem(422, "below-floor")["detail"].clone();
    let detail = detail.as_str().expect("a text");
    for said in [
        "k is 4, and k_min of the dataset is 5",
        "l of `age` is 2, and l_min of the dataset is 3",
        "l of `cost` is 2, and l_min of the dataset is 3",
        "promised_risk is 0.25, and risk_max of the dataset is 0.2",
    ] {
        assert!(detail.contains(said), "{said}: {detail}");
    }
    set(&server, &id, json!({"engines": ["mondrian"]})).await;
    let refused = post(&steward, &job(5, 3)).await;
    refused.expect_problem(422, "below-floor");

    let mut excepted = job(4, 2);
    for unfit in ["", " ", "a\nb"] {
        excepted["floor_exception"] = json!(unfit);
        let refused = post(&steward, &excepted).await;
        refused.expect_problem(422, "invalid-body");
    }
    excepted["floor_exception"] = json!("the hospital board asked for it");
    let queued = post(&steward, &excepted).await.expect(202);
    assert_eq!(queued["floor_exception"], "the hospital board asked for it");
    let auditor = server.key(&["auditor"]).await;
    let rows = auditor.call("list_audit").query("action", "create_job");
    let rows = rows.send().await.expect(200);
    let asked = rows["items"].as_array().expect("a list").iter();
    let asked: Vec<_> = asked
        .map(|row| row["detail"]["floor_exception"].clone())
        .collect();
    assert_eq!(asked, [json!(true), Value::Null]);
    assert!(!rows.to_string().contains("hospital"), "{rows}");
}

async fn a_draft_is_compared_with_the_floors_of_the_day_it_is_published(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    set(&server, &id, json!({"l_min": 3})).await;
    let refused = publish(&steward, &release).await;
    let problem = refused.expect_problem(409, "draft-below-floor");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains("l_min of the dataset is 3"), "{detail}");
    assert_eq!(state(&steward, &release).await, "draft");
    set(&server, &id, json!({"l_min": 2})).await;
    publish(&steward, &release).await.expect(200);
}

/// A job whose release shows groups of exactly its k, on 120 records.
fn exact(id: &str) -> Value {
    json!({"dataset": id, "engine": "mondrian", "parameters": {"k": 2},
        "report": {"queries": 0}})
}

/// A dataset without semi-sensitive attributes, for `mondrian`.
async fn grouped(steward: &Client) -> String {
    let schema = json!({"name": "grouped", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let made = steward.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let lines = (0..120).map(|at| format!("p{at},{},{}\n", at, 100 + at * 37 % 900));
    let csv = String::from("id,age,cost\n") + &lines.collect::<String>();
    story::upload(steward, &id, csv).await.expect(201);
    id
}

async fn a_draft_whose_measured_risk_is_too_large_stays_one(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = grouped(&steward).await;
    let release = story::release(&steward, &exact(&id)).await;
    let report = steward.call("get_release_report").at("id", &release);
    let report = report.send().await.expect(200);
    let risk = report["measures"]["reidentification_risk"]["value"]["prosecutor_max"].clone();
    let risk = risk.as_f64().expect("a risk");
    assert!(risk > 0.3, "{risk}");
    set(&server, &id, json!({"risk_max": 0.3})).await;
    let refused = publish(&steward, &release).await;
    let problem = refused.expect_problem(409, "draft-below-floor");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains("prosecutor_max is"), "{detail}");
    set(&server, &id, json!({"risk_max": risk})).await;
    publish(&steward, &release).await.expect(200);
}

async fn a_draft_that_tells_too_much_to_a_model_stays_one(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = grouped(&steward).await;
    // Pairs of people: half of the costs are guessed, where others tell nothing.
    let release = story::release(&steward, &exact(&id)).await;
    set(&server, &id, json!({"lift_max": 2})).await;
    let refused = publish(&steward, &release).await;
    let problem = refused.expect_problem(409, "draft-below-floor");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains("lift of `cost` is "), "{detail}");
    set(&server, &id, json!({"lift_max": 1000})).await;
    publish(&steward, &release).await.expect(200);
}

async fn a_release_that_publishes_itself_stays_a_draft_below_the_floors(server: Server) {
    // Posted while the floors were lower, taken up afterwards.
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = story::job(&id);
    job["publish"] = json!("automatic");
    let low = story::queue(&steward, &job).await;
    job["parameters"]["k"] = json!(5);
    let enough = story::queue(&steward, &job).await;
    set(&server, &id, json!({"k_min": 5})).await;
    server.work();
    for (job, expected) in [(low, "draft"), (enough, "published")] {
        let view = story::ended(&steward, &job).await;
        assert_eq!(view["state"], "succeeded", "{view}");
        let release = view["release"].as_str().expect("a release");
        assert_eq!(state(&steward, release).await, expected);
    }

    // The worker keeps to the service's floors and stewards too.
    for change in [
        (|settings: &mut vizard::worker::WorkerSettings| {
            settings.floors.k_min = Some(vizard_anonymizer::privacy::K::new(6).expect("a k"));
        }) as fn(&mut _),
        |settings| settings.second_steward = SecondSteward::Always,
    ] {
        let other = if server.url.starts_with("sqlite:") {
            Server::sqlite().await
        } else {
            Server::postgres().await.expect("it is there")
        };
        other.work_with(change);
        let steward = other.key(&["uploader", "steward"]).await;
        let mut job = story::job(&story::filled_dataset(&steward).await);
        job["publish"] = json!("automatic");
        job["parameters"]["k"] = json!(5);
        let release = story::release(&steward, &job).await;
        let seen = steward.call("get_release").at("id", &release).send().await;
        let seen = seen.expect(200);
        assert_eq!(
            (&seen["state"], &seen["awaiting_second_steward"]),
            (&json!("draft"), &json!(false))
        );
    }
}

async fn an_exception_cannot_publish_itself(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = story::job(&id);
    job["publish"] = json!("automatic");
    job["floor_exception"] = json!("in a hurry");
    let refused = post(&steward, &job).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "publish");
}
