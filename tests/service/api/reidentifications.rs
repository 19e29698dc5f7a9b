//! From a row back to its person: told to two stewards, and to nobody else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_row_is_told_to_two_stewards_and_to_nobody_else,
    the_log_tells_of_every_reading_and_never_of_whom,
    a_question_is_refused_by_another_steward_or_taken_back_by_its_own,
    what_has_no_person_behind_it_cannot_be_asked_for,
    an_erased_person_is_told_to_nobody_any_more,
    a_withdrawn_release_tells_nobody_and_an_erased_dataset_nothing,
    of_many_confirmations_at_once_one_holds,
    a_day_has_so_many_questions_and_no_more,
    a_kept_answer_goes_with_the_person,
);

const REASON: &str = "an incidental finding";

/// Two stewards, and a published release.
struct Asked {
    one: Client,
    other: Client,
    dataset: String,
    release: String,
}

async fn published(server: &Server) -> Asked {
    server.work();
    let one = server.key(&["uploader", "steward"]).await;
    let other = server.key(&["steward"]).await;
    let dataset = story::filled_dataset(&one).await;
    let release = story::release(&one, &story::job(&dataset)).await;
    let publish = one.call("publish_release").at("id", &release);
    publish.send().await.expect(200);
    Asked {
        one,
        other,
        dataset,
        release,
    }
}

/// Who stands behind a row, as the lineage has it.
async fn behind(server: &Server, release: &str, row: u64) -> String {
    let id = release.parse().expect("an id");
    let lineage = server.store.release_lineage(id).await.expect("a lineage");
    let lineage = String::from_utf8(lineage).expect("text");
    let begin = format!("microdata,{row},");
    let mut lines = lineage.lines();
    let line = lines.find_map(|line| line.strip_prefix(&begin));
    line.expect("the row").to_owned()
}

async fn ask(client: &Client, release: &str, row: u64) -> Answer {
    let body = json!({"table": "microdata", "row": row, "reason": REASON});
    let call = client.call("create_reidentification").at("id", release);
    call.json(&body).send().await
}

async fn asked(client: &Client, release: &str, row: u64) -> String {
    let asked = ask(client, release, row).await.expect(201);
    asked["id"].as_str().expect("an id").to_owned()
}

/// How a question ends without an answer.
#[derive(Clone, Copy)]
enum End {
    Refuse,
    Withdraw,
}

async fn end(client: &Client, how: End, id: &str) -> Answer {
    let call = match how {
        End::Refuse => client.call("refuse_reidentification"),
        End::Withdraw => client.call("withdraw_reidentification"),
    };
    call.at("id", id).send().await
}

async fn confirm(client: &Client, id: &str) -> Answer {
    let call = client.call("confirm_reidentification").at("id", id);
    call.send().await
}

async fn read(client: &Client, id: &str) -> Answer {
    let call = client.call("get_reidentification").at("id", id);
    call.send().await
}

/// The list of a release's questions, as text.
async fn listed(client: &Client, release: &str) -> Value {
    let call = client.call("list_reidentifications").at("id", release);
    call.send().await.expect(200)["items"].clone()
}

/// Whether a view tells a subject, or that there is none.
fn tells(view: &Value) -> bool {
    view.get("subject").is_some() || view.get("gone").is_some()
}

async fn a_row_is_told_to_two_stewards_and_to_nobody_else(server: Server) {
    let Asked {
        one,
        other,
        release,
        ..
    } = published(&server).await;
    let subject = behind(&server, &release, 7).await;
    let answer = ask(&one, &release, 7).await;
    let location = answer.header("location").expect("a place").to_owned();
    let view = answer.expect(201);
    let id = view["id"].as_str().expect("an id").to_owned();
    assert_eq!(location, format!("/v1/reidentifications/{id}"));
    assert_eq!(
        (&view["state"], &view["row"], &view["reason"]),
        (&json!("pending"), &json!(7), &json!(REASON))
    );
    assert!(!tells(&view) && !tells(&read(&one, &id).await.expect(200)));
    confirm(&one, &id)
        .await
        .expect_problem(409, "second-steward");
    assert!(!tells(&read(&one, &id).await.expect(200)));

    let told = confirm(&other, &id).await.expect(200);
    assert_eq!(
        (&told["state"], &told["subject"], &told["gone"]),
        (&json!("confirmed"), &json!(subject), &json!(false))
    );
    for client in [&one, &other] {
        assert_eq!(read(client, &id).await.expect(200)["subject"], subject);
    }
    assert_eq!(confirm(&other, &id).await.expect(200)["subject"], subject);
    let third = server.key(&["steward"]).await;
    let seen = read(&third, &id).await.expect(200);
    assert!(seen["state"] == "confirmed" && !tells(&seen), "{seen}");
    confirm(&third, &id)
        .await
        .expect_problem(409, "release-state");
    for client in [&one, &other, &third] {
        let list = listed(client, &release).await;
        assert_eq!(
            (&list[0]["id"], list[0]["row"].as_u64()),
            (&json!(id), Some(7))
        );
        assert!(!tells(&list[0]), "{list}");
    }

    let analyst = server.key(&["analyst"]).await;
    ask(&analyst, &release, 7)
        .await
        .expect_problem(403, "forbidden");
    read(&analyst, &id).await.expect_problem(403, "forbidden");
    let another = story::dataset(&one).await;
    let tied = server.key_for(&["steward"], json!([another])).await;
    ask(&tied, &release, 7)
        .await
        .expect_problem(404, "not-found");
    read(&tied, &id).await.expect_problem(404, "not-found");
    confirm(&tied, &id).await.expect_problem(404, "not-found");
}

async fn the_log_tells_of_every_reading_and_never_of_whom(server: Server) {
    let Asked {
        one,
        other,
        release,
        ..
    } = published(&server).await;
    let subject = behind(&server, &release, 7).await;
    let id = asked(&one, &release, 7).await;
    read(&other, &id).await.expect(200);
    confirm(&other, &id).await.expect(200);
    read(&one, &id).await.expect(200);
    read(&server.key(&["steward"]).await, &id).await.expect(200);
    let auditor = server.key(&["auditor"]).await;
    let rows = auditor.call("list_audit").query("limit", 200).send().await;
    let rows = rows.expect(200);
    let of_it = rows["items"].as_array().expect("a list").iter();
    let of_it: Vec<_> = of_it.filter(|row| row["object_id"] == json!(id)).collect();
    let actions: Vec<_> = of_it.iter().map(|row| row["action"].clone()).collect();
    let expected = [
        "read_reidentified_subject",
        "confirm_reidentification",
        "create_reidentification",
    ];
    assert_eq!(actions, expected);
    let asker = of_it[2]["actor"].clone();
    assert_eq!(
        of_it[1]["detail"],
        json!({"release": release, "asked_by": asker, "gone": false})
    );
    for row in of_it {
        let text = row.to_string();
        let is_told = text.contains(&format!("\"{subject}\"")) || text.contains(REASON);
        assert!(!is_told && !text.contains("microdata"), "{text}");
    }
}

async fn a_question_is_refused_by_another_steward_or_taken_back_by_its_own(server: Server) {
    let Asked {
        one,
        other,
        release,
        ..
    } = published(&server).await;
    for (by, how, state, not_by) in [
        (&other, End::Refuse, "refused", &one),
        (&one, End::Withdraw, "withdrawn", &other),
    ] {
        let id = asked(&one, &release, 3).await;
        end(not_by, how, &id)
            .await
            .expect_problem(409, "second-steward");
        assert_eq!(read(&one, &id).await.expect(200)["state"], "pending");
        let closed = end(by, how, &id).await.expect(200);
        assert_eq!(closed["state"], state);
        assert_eq!(end(by, how, &id).await.expect(200), closed);
        let late = confirm(&other, &id).await;
        late.expect_problem(409, "release-state");
        assert!(!tells(&read(&one, &id).await.expect(200)));
    }
    let id = asked(&one, &release, 3).await;
    confirm(&other, &id).await.expect(200);
    for (by, how) in [(&other, End::Refuse), (&one, End::Withdraw)] {
        let late = end(by, how, &id).await;
        late.expect_problem(409, "release-state");
    }
}

async fn what_has_no_person_behind_it_cannot_be_asked_for(server: Server) {
    let Asked {
        one,
        dataset,
        release,
        ..
    } = published(&server).await;
    let refused = async |body: Value, parameter: &str| {
        let call = one.call("create_reidentification").at("id", &release);
        let refused = call.json(&body).send().await;
        let problem = refused.expect_problem(422, "invalid-body");
        assert_eq!(problem["parameter"], parameter, "{problem}");
        problem["detail"].as_str().expect("a text").to_owned()
    };
    let question = json!({"table": "microdata", "row": 1, "reason": REASON});
    let with = |name: &str, value: Value| {
        let mut body = question.clone();
        body[name] = value;
        body
    };
    let tables = refused(with("table", json!("wards")), "table").await;
    assert!(tables.contains("microdata, buckets"), "{tables}");
    refused(with("table", json!("microdata\0")), "table").await;
    let of_nobody = refused(with("table", json!("buckets")), "table").await;
    assert!(of_nobody.contains("of one person"), "{of_nobody}");
    let rows = refused(with("row", json!(0)), "row").await;
    assert!(
        rows.starts_with("the rows of microdata are 1 to "),
        "{rows}"
    );
    refused(with("row", json!(121)), "row").await;
    refused(with("row", json!(u64::MAX)), "row").await;
    for reason in ["", "   ", "a\nb", &"x".repeat(501)] {
        refused(with("reason", json!(reason)), "reason").await;
    }
    let draft = story::release(&one, &story::job(&dataset)).await;
    ask(&one, &draft, 1)
        .await
        .expect_problem(409, "release-state");
    assert_eq!(listed(&one, &release).await, json!([]));
}

async fn an_erased_person_is_told_to_nobody_any_more(server: Server) {
    let Asked {
        one,
        other,
        dataset,
        release,
    } = published(&server).await;
    let subject = behind(&server, &release, 7).await;
    let (told, pending) = (
        asked(&one, &release, 7).await,
        asked(&one, &release, 7).await,
    );
    let next = asked(&one, &release, 8).await;
    confirm(&other, &told).await.expect(200);
    let erase = one.call("erase_subject").at("id", &dataset);
    let erased = erase.at("subject", &subject).send().await;
    assert!(matches!(erased.status, 200 | 202), "{}", erased.text());
    for view in [
        read(&one, &told).await.expect(200),
        confirm(&other, &pending).await.expect(200),
    ] {
        assert_eq!(view["gone"], true, "{view}");
        assert!(view.get("subject").is_none(), "{view}");
    }
    let again = ask(&one, &release, 7).await;
    again.expect_problem(409, "release-state");
    // Other rows keep their numbers.
    let neighbour = behind(&server, &release, 8).await;
    let view = confirm(&other, &next).await.expect(200);
    assert_eq!(view["subject"], neighbour);
}

async fn a_withdrawn_release_tells_nobody_and_an_erased_dataset_nothing(server: Server) {
    let Asked {
        one,
        other,
        dataset,
        release,
    } = published(&server).await;
    let id = asked(&one, &release, 7).await;
    confirm(&other, &id).await.expect(200);
    let withdraw = one.call("withdraw_release").at("id", &release);
    withdraw.send().await.expect(200);
    let view = read(&one, &id).await.expect(200);
    assert_eq!((&view["gone"], view.get("subject")), (&json!(true), None));
    ask(&one, &release, 7)
        .await
        .expect_problem(409, "release-state");
    assert_eq!(listed(&one, &release).await[0]["id"], json!(id));

    let erased = one.call("erase_dataset").at("id", &dataset).send().await;
    assert!(matches!(erased.status, 200 | 202), "{}", erased.text());
    read(&one, &id).await.expect_problem(404, "not-found");
    assert_eq!(listed(&one, &release).await, json!([]));
}

async fn of_many_confirmations_at_once_one_holds(server: Server) {
    let Asked { one, release, .. } = published(&server).await;
    let id = asked(&one, &release, 7).await;
    let mut calls = Vec::new();
    for _ in 0..6 {
        let (steward, id) = (server.key(&["steward"]).await, id.clone());
        calls.push(tokio::spawn(async move { confirm(&steward, &id).await }));
    }
    let mut told = BTreeSet::new();
    for call in calls {
        let answer = call.await.expect("an answer");
        if answer.status == 200 {
            told.insert(answer.json()["decided_by"].to_string());
        } else {
            answer.expect_problem(409, "release-state");
        }
    }
    assert_eq!(told.len(), 1);
    let kept = read(&one, &id).await.expect(200);
    assert!(told.contains(&kept["decided_by"].to_string()));
}

async fn a_day_has_so_many_questions_and_no_more(server: Server) {
    let Asked {
        one,
        other,
        release,
        ..
    } = published(&server).await;
    let mut ids = Vec::new();
    for row in 1..=20 {
        ids.push(asked(&one, &release, row).await);
    }
    confirm(&other, &ids[0]).await.expect(200);
    // Another steward has no questions of their own.
    for client in [&one, &other] {
        let refused = ask(client, &release, 21).await;
        assert!(refused.header("retry-after").is_some());
        refused.expect_problem(429, "too-many-requests");
    }
    end(&one, End::Withdraw, &ids[1]).await.expect(200);
    asked(&one, &release, 21).await;
    ask(&one, &release, 22)
        .await
        .expect_problem(429, "too-many-requests");
    let page = one.call("list_reidentifications").at("id", &release);
    let page = page.query("limit", 15).send().await.expect(200);
    let cursor = page["next_cursor"].as_str().expect("there is more");
    let rest = one.call("list_reidentifications").at("id", &release);
    let rest = rest.query("cursor", cursor).send().await.expect(200);
    assert_eq!(
        (
            page["items"].as_array().map(Vec::len),
            rest["items"].as_array().map(Vec::len)
        ),
        (Some(15), Some(6))
    );
}

async fn a_kept_answer_goes_with_the_person(server: Server) {
    let Asked {
        one,
        other,
        dataset,
        release,
    } = published(&server).await;
    let subject = behind(&server, &release, 7).await;
    let id = asked(&one, &release, 7).await;
    let under = async || {
        let call = other.call("confirm_reidentification").at("id", &id);
        call.header("idempotency-key", "once").send().await
    };
    assert_eq!(under().await.expect(200)["subject"], subject);
    let replayed = under().await;
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    assert_eq!(replayed.expect(200)["subject"], subject);
    let erase = one.call("erase_subject").at("id", &dataset);
    let erased = erase.at("subject", &subject).send().await;
    assert!(matches!(erased.status, 200 | 202), "{}", erased.text());
    let anew = under().await;
    assert_eq!(anew.header("idempotency-replayed"), None);
    let anew = anew.expect(200);
    assert_eq!((&anew["gone"], anew.get("subject")), (&json!(true), None));
}
