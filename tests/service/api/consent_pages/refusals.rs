//! Codes that open nothing, and a service that cannot look.

use std::collections::BTreeMap;

use serde_json::json;
use vizard::config::{Limits, Settings};

use super::{Browser, Form, code, dataset, receipt_code, schema};
use crate::api::{Server, on_both};

on_both!(
    every_code_that_opens_nothing_gets_the_same_page,
    without_its_store_the_service_says_that_it_cannot_be_reached,
);

async fn every_code_that_opens_nothing_gets_the_same_page(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let good = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let brief = json!({"subjects": ["p1"], "expires_in_s": 1});
    let expired = code(&client, &id, brief).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let browser = Browser::new(server.anyone());
    let receipt = receipt_code(&browser.choose(&good, &[("take", "out")]).await);
    let last = if good.ends_with('0') { "1" } else { "0" };
    let mistyped = format!("{}{last}", &good[..good.len() - 1]);
    let never = "vs_0123456789abcdef0123456789abcdef";
    let hostile = "\"><script>alert(1)</script>";
    let none = [
        &expired,
        &mistyped,
        never,
        &receipt,
        client.token(),
        hostile,
        "",
        "é",
    ];
    let mut told = Vec::new();
    for typed in none {
        for place in ["/consent", "/consent/choice", "/consent/receipt"] {
            let form = Form(vec![
                ("code".into(), typed.into()),
                ("lang".into(), "en".into()),
            ]);
            let page = browser.send(place, &form).await;
            assert_eq!(page.status, 401, "{place} {typed}");
            told.push(page.text());
        }
    }
    let whole = browser
        .client
        .send_whole("POST", "/consent", &[], "{}")
        .await;
    told.push(Browser::checked(whole).text());
    told.dedup();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("This code does not work."), "{}", told[0]);
    let mut told = Vec::new();
    for typed in [
        "vr_0123456789abcdef0123456789abcdef",
        &good,
        client.token(),
        hostile,
        "",
    ] {
        for place in ["/my-preferences/receipt", "/my-preferences/withdrawal"] {
            let form = Form(vec![("code".into(), typed.into())]).with("confirm", "yes");
            let page = browser.send(place, &form).await;
            assert_eq!(page.status, 401, "{place} {typed}");
            told.push(page.text());
        }
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:#?}");
    // Both good ones still are.
    assert_eq!(browser.choices(&good).await.status, 200);
    assert_eq!(browser.look_up(&receipt).await.status, 200);
}

async fn without_its_store_the_service_says_that_it_cannot_be_reached(server: Server) {
    server.store.close().await.expect("it closes");
    let browser = Browser::new(server.anyone());
    for page in [
        browser.choices("vs_0123456789abcdef0123456789abcdef").await,
        browser.look_up("vr_0123456789abcdef0123456789abcdef").await,
    ] {
        assert_eq!(page.status, 503);
        assert!(
            page.text().contains("cannot be reached at the moment"),
            "{}",
            page.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_on_pages_count_for_the_address_that_they_come_from() {
    let limits = Limits {
        token_attempts_per_s_max: 1,
        token_attempts_burst_max: 5,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let server = Server::sqlite_with(settings).await;
    let browser = Browser::new(server.anyone());
    let mut told = BTreeMap::new();
    for guess in 0..12 {
        let page = browser.choices(&format!("vs_{guess:032x}")).await;
        told.insert(page.status, page.text());
    }
    let statuses: Vec<_> = told.keys().copied().collect();
    assert_eq!(statuses, [401, 429]);
    assert!(told[&429].contains("too many attempts"), "{}", told[&429]);
    // The same address is held up at the API: it was the browser's own that counted.
    let token = server.anyone().with("vs_0123456789abcdef0123456789abcdef");
    let held = token.call("get_my_preferences").send().await;
    assert_eq!(held.status, 429);
}
