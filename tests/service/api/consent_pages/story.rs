//! Choosing, looking a receipt up, withdrawing.

use serde_json::json;

use super::{Browser, Form, code, dataset, receipt_code, schema, terms, wards};
use crate::api::{Server, on_both};
use crate::common::program::{Program, key};

on_both!(
    the_page_says_what_is_asked_for_and_selects_nothing,
    a_choice_is_confirmed_kept_and_withdrawn,
    what_was_said_elsewhere_is_told_and_replaced,
    nothing_is_saved_before_it_is_chosen_and_confirmed,
    a_receipt_is_drawn_again_from_what_is_kept_alone,
);

async fn the_page_says_what_is_asked_for_and_selects_nothing(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let choices = browser
        .choices(&code.to_uppercase().replace("VS_", "vs "))
        .await;
    assert_eq!(choices.status, 200);
    let text = choices.text();
    for said in [
        "Stays in hospital",
        "How long people stay.<br>Nothing else.",
        "Dr. Ada, room 5",
        "Your age",
        "In whole years.",
        "<span>ward</span>",
        "Never published.",
        "aria-label=\"Picture: 20 people, one of them filled in with colour\"",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("name=\"hide.ward\""), "{text}");
    assert_eq!(
        Form::of(&choices).field("take"),
        None,
        "nobody is in by default"
    );
}

async fn a_choice_is_confirmed_kept_and_withdrawn(server: Server) {
    server.work();
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let picked = [
        ("take", "in"),
        ("hide.age", "yes"),
        ("hide.sex", "no"),
        ("people", "5"),
    ];
    let receipt = browser.choose(&code, &picked).await;
    let sentence = "Your data may be included (hidden among others: Your age; shown: Your sex), \
                    and nobody may find out which of 5 people you are.";
    assert!(receipt.text().contains(sentence), "{}", receipt.text());
    assert!(receipt.text().contains("/my-preferences/receipt</a>"));
    let kept = json!({"sensitive": ["age"], "max_reidentification": 0.2,
        "max_leakage": {"age": 0.2, "cost": 0.2}});
    assert_eq!(terms(&client, &id).await, kept);

    let spoken = receipt_code(&receipt);
    let found = browser.look_up(&spoken).await.text();
    assert!(found.contains("It is in force."), "{found}");
    assert!(found.contains("Nothing has been published yet."), "{found}");
    let mut job = wards::job(&id);
    job["parameters"]["k"] = json!(5);
    let release = wards::release(&client, &job).await;
    server.publish(&client, &release).await.expect(200);
    let found = browser.look_up(&spoken).await;
    assert!(
        found.text().contains("This choice was kept."),
        "{}",
        found.text()
    );

    let asked = browser
        .send("/my-preferences/withdrawal", &Form::of(&found))
        .await;
    assert!(asked.text().contains("Leave you out from now on?"));
    assert_eq!(
        terms(&client, &id).await,
        kept,
        "nothing is done before it is confirmed"
    );
    let form = Form::of(&asked).with("confirm", "yes");
    let out = browser.send("/my-preferences/withdrawal", &form).await;
    assert!(out.text().contains("You are left out"), "{}", out.text());
    assert_eq!(terms(&client, &id).await, json!({"exclude": true}));
    let second = receipt_code(&out);
    assert_ne!(second, spoken);
    let found = browser.look_up(&spoken).await.text();
    assert!(found.contains("a later one replaced it on"), "{found}");
    let found = browser.look_up(&second).await.text();
    assert!(
        found.contains("published before you made this choice"),
        "{found}"
    );
    // The code still changes the choice, and begins with what is in force.
    let again = browser.choices(&code).await;
    assert_eq!(Form::of(&again).field("take"), Some("out"));
    assert!(
        again
            .text()
            .contains("what you chose before stays in force")
    );
}

async fn what_was_said_elsewhere_is_told_and_replaced(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let put = client
        .call("put_preference")
        .at("id", &id)
        .at("subject", "p1");
    let put = put.json(&json!({"max_reidentification": 0.3})).send().await;
    assert!(put.status < 300, "{}", put.text());
    let browser = Browser::new(server.anyone());
    let choices = browser.choices(&code).await;
    assert!(
        choices.text().contains("This page cannot show it"),
        "{}",
        choices.text()
    );
    assert_eq!(Form::of(&choices).field("take"), None);
    browser
        .choose(&code, &[("take", "in"), ("people", "2")])
        .await;
    let kept = json!({"sensitive": ["age", "sex"], "max_reidentification": 0.5,
        "max_leakage": {"age": 0.5, "sex": 0.5, "cost": 0.5}});
    assert_eq!(terms(&client, &id).await, kept);
    let choices = browser.choices(&code).await;
    assert_eq!(Form::of(&choices).field("take"), Some("in"));
    assert_eq!(Form::of(&choices).field("people"), Some("2"));
}

async fn nothing_is_saved_before_it_is_chosen_and_confirmed(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let choices = browser.choices(&code).await;
    for form in [
        Form::of(&choices).with("confirm", "yes"),
        Form::of(&choices)
            .with("take", "in")
            .with("people", "3")
            .with("confirm", "yes"),
    ] {
        let page = browser.send("/consent/choice", &form).await;
        assert_eq!(page.status, 422, "{}", page.text());
        assert!(
            page.text().contains("You have not chosen yet."),
            "{}",
            page.text()
        );
    }
    let asked = browser
        .send("/consent/choice", &Form::of(&choices).with("take", "out"))
        .await;
    assert_eq!(asked.status, 200);
    let none = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "p1");
    assert_eq!(none.send().await.status, 404);
    for place in [
        "/consent/choice",
        "/consent/receipt",
        "/my-preferences/withdrawal",
    ] {
        let answer = browser.client.send("GET", place).await;
        assert_eq!(answer.status, 303, "{place}");
    }
}

async fn a_receipt_is_drawn_again_from_what_is_kept_alone(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let receipt = browser.choose(&code, &[("take", "out")]).await;
    let form = Form::of(&receipt).with("switch", "de").with("take", "in");
    let again = browser.send("/consent/receipt", &form).await;
    assert_eq!(again.status, 200);
    assert!(
        again.text().contains("Sie sind nicht dabei"),
        "{}",
        again.text()
    );
    assert_eq!(receipt_code(&again), receipt_code(&receipt));
    // Somebody else's code makes no receipt of it.
    let form = Form::of(&receipt).with("receipt", "vr_0123456789abcdef0123456789abcdef");
    assert_eq!(browser.send("/consent/receipt", &form).await.status, 401);
    browser.choose(&code, &[("take", "in")]).await;
    let old = browser.send("/consent/receipt", &Form::of(&receipt)).await;
    assert!(
        old.text().contains("It is no longer in force"),
        "{}",
        old.text()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_neither_code_nor_receipt() {
    let environment = [("VIZARD_LOG", "trace"), ("VIZARD_LOG_JSON", "true")];
    let server = Program::serve(&[], &environment);
    let anyone = server.client();
    let client = key(&anyone, &["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(anyone);
    let receipt = receipt_code(&browser.choose(&code, &[("take", "in")]).await);
    let found = browser.look_up(&receipt).await;
    let form = Form::of(&found).with("confirm", "yes");
    let out = browser.send("/my-preferences/withdrawal", &form).await;
    let second = receipt_code(&out);
    browser.choices("vs_00000000000000000000000000c0ffee").await;
    let (_, lines) = server.terminate();
    assert!(lines.len() > 50, "it logged at TRACE");
    let log = lines.join("\n");
    assert!(log.contains("/consent/choice"), "the pages were logged");
    for secret in [&code, &receipt, &second, "00c0ffee"] {
        let plain = secret.replace(' ', "");
        let digits = plain.trim_start_matches(['v', 's', 'r', '_']);
        assert!(!log.contains(digits), "the log tells {secret}");
        assert!(!log.contains(secret), "the log tells {secret}");
    }
}
