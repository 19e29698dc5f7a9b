//! Explorations on pages: ordered by a form, seen with their candidates, one of
//! them chosen.

use serde_json::{Value, json};

use super::{Browser, Server, on_both, story};
use crate::common::client::Client;

on_both!(
    a_steward_explores_and_chooses_one_and_the_other_drafts_are_withdrawn,
    what_is_wrong_with_an_exploration_is_told_and_nothing_is_typed_again,
    explorations_are_for_stewards,
);

async fn at_dataset(server: &Server) -> (Client, Browser, String) {
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let mut browser = Browser::new(server);
    browser.sign_in(&steward).await;
    (steward, browser, dataset)
}

async fn a_steward_explores_and_chooses_one_and_the_other_drafts_are_withdrawn(server: Server) {
    server.work();
    let (steward, mut browser, dataset) = at_dataset(&server).await;
    let place = format!("/datasets/{dataset}/explore");
    let page = browser.open(&format!("/datasets/{dataset}")).await.text();
    assert!(page.contains(&format!("href=\"{place}\"")), "{page}");
    assert!(
        browser
            .open(&place)
            .await
            .text()
            .contains("value=\"lgb\" checked")
    );
    let token = format!("form_token={}", browser.form_token().await);
    let asked = "engine=lgb&k=2%2C+4&l=2&t=&keep=2&minutes=5&loss=ncp&risk=reidentification_mean&shared.lgb=%7B%22generalization%22%3A%22ncp%22%7D";
    let begun = browser.send(&place, &format!("{token}&{asked}")).await;
    assert_eq!(begun.status, 303, "{}", begun.text());
    let place = begun.header("location").expect("a place").to_owned();
    let id = place.trim_start_matches("/explorations/").to_owned();
    let found = story::explored(&steward, &id).await;
    assert_eq!(found["settings_total"], 2);
    assert_eq!(found["settings"][0]["parameters"]["generalization"], "ncp");
    assert_eq!(found["loss"], "ncp");
    let page = browser.open(&place).await.text();
    let releases: Vec<&str> = kept(&found);
    assert!(!releases.is_empty());
    for release in &releases {
        assert!(
            page.contains(&format!("href=\"/releases/{release}\"")),
            "{page}"
        );
    }
    assert!(page.contains("href=\"#setting-1\"") && page.contains("id=\"setting-1\""));
    let choice = format!("{place}/choose");
    assert_eq!(browser.send(&choice, "setting=1").await.status, 403);
    assert_eq!(
        browser
            .send(&choice, &format!("{token}&setting=99"))
            .await
            .status,
        404
    );
    let best = &found["best"][0];
    let chosen = browser
        .send(&choice, &format!("{token}&setting={best}"))
        .await;
    assert_eq!(chosen.status, 303, "{}", chosen.text());
    let to = chosen.header("location").expect("a place").to_owned();
    let found = story::explored(&steward, &id).await;
    let [release] = kept(&found)[..] else {
        panic!("one is left: {found}");
    };
    assert_eq!(to, format!("/releases/{release}"));
    let draft = browser.open(&to).await.text();
    assert!(draft.contains("Publish it?"), "{draft}");
    // A setting whose tables are not kept is ordered again as it was.
    let page = browser.open(&place).await.text();
    let way = page.split("/job?engine=lgb&amp;").nth(1);
    if let Some(way) = way {
        let query = way.split('"').next().expect("an end").replace("&amp;", "&");
        let form = format!("/datasets/{dataset}/job?engine=lgb&{query}");
        let form = browser.open(&form).await.text();
        assert!(form.contains("name=\"parameter.l\""), "{form}");
    } else {
        panic!("no way to order it again: {page}");
    }
}

fn kept(found: &Value) -> Vec<&str> {
    let settings = found["settings"].as_array().expect("settings").iter();
    settings.filter_map(|one| one["release"].as_str()).collect()
}

async fn what_is_wrong_with_an_exploration_is_told_and_nothing_is_typed_again(server: Server) {
    let (_, mut browser, dataset) = at_dataset(&server).await;
    let place = format!("/datasets/{dataset}/explore");
    let token = format!("form_token={}", browser.form_token().await);
    let whole = "engine=lgb&k=2&l=2&t=&keep=2&minutes=5";
    for (asked, said) in [
        ("k=5&keep=2&minutes=5", "Choose at least one engine."),
        (
            "engine=lgb&k=five&keep=2&minutes=5",
            "k: numbers with commas",
        ),
        ("engine=lgb&k=5&keep=two&minutes=5", "keep: a whole number."),
        (
            "engine=lgb&k=5&keep=2&minutes=5&shared.lgb=%5B1%5D",
            "no JSON object",
        ),
        ("engine=lgb&k=5&keep=99&minutes=5", "keep lies between"),
        ("engine=rmr&k=5&keep=2&minutes=5", "no setting can be run"),
    ] {
        let page = browser.send(&place, &format!("{token}&{asked}")).await;
        assert_eq!(page.status, 422, "{asked}: {}", page.text());
        let text = page.text();
        assert!(text.contains(said), "{asked}: {text}");
        let k = asked
            .split("k=")
            .nth(1)
            .and_then(|rest| rest.split('&').next());
        assert!(
            text.contains(&format!("value=\"{}\"", k.expect("a value"))),
            "{text}"
        );
    }
    assert_eq!(browser.send(&place, whole).await.status, 403, "no token");
    let origin = "https://evil.example";
    let forged = browser
        .send_from(origin, &place, &format!("{token}&{whole}"))
        .await;
    assert_eq!(forged.status, 403);
}

async fn explorations_are_for_stewards(server: Server) {
    let (steward, _, dataset) = at_dataset(&server).await;
    let id = story::explore(&steward, &story::exploration(&dataset)).await;
    let nowhere = json!(["dataset_01a21feb-c6d1-72f2-908e-0662ec8fedfa"]);
    let tied = server.key_for(&["steward"], nowhere).await;
    for (who, status) in [
        (server.key(&["analyst"]).await, 403),
        (server.key(&["uploader"]).await, 403),
        (server.key(&["auditor"]).await, 403),
        (tied, 404),
        (server.key(&["steward"]).await, 200),
    ] {
        let mut browser = Browser::new(&server);
        browser.sign_in(&who).await;
        let page = browser.open(&format!("/explorations/{id}")).await;
        assert_eq!(page.status, status);
        let token = format!("form_token={}", browser.form_token().await);
        for verb in ["choose", "cancel"] {
            let place = format!("/explorations/{id}/{verb}");
            let sent = browser.send(&place, &format!("{token}&setting=1")).await;
            let wanted = match (status, verb) {
                // It runs still: nobody chooses yet.
                (200, "choose") => 409,
                (200, _) => 303,
                (refused, _) => refused,
            };
            assert_eq!(sent.status, wanted, "{verb}: {}", sent.text());
        }
    }
    let found = steward.call("get_exploration").at("id", &id).send().await;
    assert_eq!(found.expect(200)["state"], "cancelled");
}
