//! A job that is ordered as JSON, beside the controls.

use serde_json::{Value, json};

use super::{Browser, Server, on_both, story};

on_both!(a_job_is_ordered_as_json_and_what_is_wrong_is_shown_beside_it,);

async fn a_job_is_ordered_as_json_and_what_is_wrong_is_shown_beside_it(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let other = story::dataset(&steward).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&steward).await;
    let place = format!("/datasets/{dataset}/job");
    let questions = browser.open(&place).await.text();
    assert!(questions.contains("<svg class=\"mini\""), "{questions}");
    let page = browser.open(&format!("{place}?engine=lgb")).await.text();
    let shown = page.split("name=\"job\"").nth(1).expect("a field");
    let shown = shown.split('>').nth(1).expect("its text");
    let shown = shown.split("</textarea").next().expect("its end");
    let shown: Value =
        serde_json::from_str(&shown.replace("&quot;", "\"").replace("</textarea", ""))
            .unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!(shown["parameters"], json!({"k": 5}), "what has to be given");
    assert_eq!(shown["dataset"], dataset);
    let token = browser.form_token().await;
    let mut send = async |job: &str| {
        let job: String = form_urlencoded(job);
        let form = format!("form_token={token}&engine=lgb&job={job}");
        browser.send(&place, &form).await
    };
    let wished = json!({"dataset": dataset, "engine": "lgb", "name": "From JSON",
        "parameters": {"k": 2, "l": 2}});
    let ordered = send(&wished.to_string()).await;
    assert_eq!(ordered.status, 303, "{}", ordered.text());
    let jobs = steward.call("list_jobs").send().await.expect(200);
    assert_eq!(jobs["items"][0]["name"], "From JSON");
    let mut foreign = wished.clone();
    foreign["dataset"] = json!(other);
    for (job, said) in [
        ("{", "no JSON"),
        (foreign.to_string().as_str(), "of another dataset"),
        (r#"{"dataset": 1}"#, "of another dataset"),
    ] {
        let refused = send(job).await;
        let page = refused.text();
        assert_eq!(refused.status, 422, "{page}");
        assert!(
            page.contains(said) && page.contains("role=\"alert\""),
            "{page}"
        );
        // What was typed stays.
        assert!(page.contains(&job.replace('"', "&quot;")), "{page}");
    }
    let jobs = steward.call("list_jobs").send().await.expect(200);
    assert_eq!(jobs["items"].as_array().map(Vec::len), Some(1));
}

/// A text as a field of a form has it.
fn form_urlencoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut all, byte| {
        write!(all, "%{byte:02X}").expect("a String");
        all
    })
}
