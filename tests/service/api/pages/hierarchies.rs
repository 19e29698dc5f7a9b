//! Hierarchies on pages: seen, searched, corrected, put to use.

use super::{Browser, Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_steward_corrects_a_hierarchy_and_puts_it_to_use,
    a_correction_that_breaks_a_tree_or_is_late_changes_nothing,
    a_large_tree_is_a_small_page,
    hierarchies_are_seen_by_who_works_with_the_dataset,
    labels_are_text,
);

/// Somebody at the page of the hierarchy `ward`.
struct Correcting {
    browser: Browser,
    client: Client,
    dataset: String,
    place: String,
    token: String,
}

impl Correcting {
    async fn begun(server: &Server, roles: &[&str]) -> Self {
        let client = server.key(roles).await;
        let dataset = story::filled_dataset(&client).await;
        let mut browser = Browser::new(server);
        browser.sign_in(&client).await;
        Self {
            token: browser.form_token().await,
            place: format!("/datasets/{dataset}/hierarchies/ward"),
            browser,
            client,
            dataset,
        }
    }

    /// What is there now: digest and content.
    async fn now(&self) -> (String, String) {
        let call = || {
            let call = self.client.call("get_dataset_hierarchy");
            call.at("id", &self.dataset).at("name", "ward")
        };
        let head = call().send().await.expect(200);
        let digest = head["digest"].as_str().expect("a digest").to_owned();
        let content = call().query("content", true).send().await.text();
        (digest, content)
    }

    async fn send(&mut self, fields: &str) -> Answer {
        let (digest, _) = self.now().await;
        let form = format!("form_token={}&digest={digest}&{fields}", self.token);
        self.browser.send(&self.place, &form).await
    }
}

async fn a_steward_corrects_a_hierarchy_and_puts_it_to_use(server: Server) {
    let mut it = Correcting::begun(&server, &["uploader", "steward"]).await;
    let dataset = it
        .browser
        .open(&format!("/datasets/{}", it.dataset))
        .await
        .text();
    assert!(dataset.contains(&format!("href=\"{}\"", it.place)));
    let page = it.browser.open(&it.place).await.text();
    assert!(
        page.contains("<summary>warm") && page.contains("?at=orange"),
        "{page}"
    );
    assert!(page.contains("Every value of the 120 records is a leaf"));
    assert!(!page.contains("It is not in use yet"));
    let one = it
        .browser
        .open(&format!("{}?at=warm", it.place))
        .await
        .text();
    assert!(one.contains("Rename") && !one.contains("?at=blue"));
    let found = it.browser.open(&format!("{}?q=VIO", it.place)).await.text();
    assert!(found.contains("<mark>violet</mark>") && !found.contains("?at=orange"));

    let renamed = it.send("do=rename&node=warm&to=hot").await;
    assert_eq!(renamed.status, 303, "{}", renamed.text());
    assert!(
        renamed
            .header("location")
            .expect("a place")
            .ends_with("?at=hot")
    );
    let moved = it.send("do=move&node=orange&to=cold").await;
    assert_eq!(moved.status, 303, "{}", moved.text());
    let added = it.send("do=add&node=hot&to=pink+%C3%BC").await;
    assert_eq!(added.status, 303, "{}", added.text());
    let (digest, content) = it.now().await;
    assert_eq!(
        content,
        "red;hot;*\npink ü;hot;*\nblue;cold;*\nviolet;cold;*\norange;cold;*\n"
    );
    // The records are read with the one before until somebody says otherwise.
    let page = it.browser.open(&it.place).await.text();
    assert!(page.contains("It is not in use yet") && page.contains("1 leaves are in no record"));
    let used = it.send("do=use").await;
    assert_eq!(used.status, 303, "{}", used.text());
    let call = it.client.call("get_dataset").at("id", &it.dataset);
    let dataset = call.send().await.expect(200);
    assert_eq!(
        (&dataset["version"], &dataset["hierarchies"]["ward"]),
        (&2.into(), &digest.into())
    );
    assert!(
        !it.browser
            .open(&it.place)
            .await
            .text()
            .contains("It is not in use yet")
    );
    let text = it
        .send("do=text&content=red%3Ball%0Aorange%3Ball%0Ablue%3Ball%0Aviolet%3Ball%0A")
        .await;
    assert_eq!(text.status, 303, "{}", text.text());
    assert_eq!(
        it.now().await.1,
        "red;all\norange;all\nblue;all\nviolet;all\n"
    );
    let kept = it.browser.open(&format!("{}/content", it.place)).await;
    assert_eq!((kept.status, kept.media_type()), (200, Some("text/csv")));
}

async fn a_correction_that_breaks_a_tree_or_is_late_changes_nothing(server: Server) {
    let mut it = Correcting::begun(&server, &["uploader", "steward"]).await;
    let (digest, before) = it.now().await;
    for (fields, said) in [
        ("do=rename&node=warm&to=red", "a node of this name already"),
        ("do=move&node=warm&to=red", "That is a leaf"),
        ("do=move&node=*&to=warm", "cannot stand below itself"),
        (
            "do=text&content=red%3Bwarm%3B*%0Ared%3Bcold%3B*%0A",
            "role=\"alert\"",
        ),
        ("do=text&content=", "role=\"alert\""),
    ] {
        let page = it.send(fields).await;
        assert_eq!(page.status, 422, "{fields}: {}", page.text());
        assert!(page.text().contains(said), "{fields}: {}", page.text());
    }
    // What was typed is not typed again.
    let sent = it
        .send("do=text&content=odd%3Bwarm%3B*%0Aodd%3Bcold%3B*%0A")
        .await
        .text();
    assert!(sent.contains("odd;warm;*"), "{sent}");
    assert_eq!(it.now().await, (digest.clone(), before));
    // Without a value that records have it can be put, and not be used.
    assert_eq!(
        it.send("do=text&content=red%3B*%0Aorange%3B*%0Ablue%3B*%0A")
            .await
            .status,
        303
    );
    let page = it.browser.open(&it.place).await.text();
    assert!(
        page.contains("It lacks 1 values") && page.contains("violet"),
        "{page}"
    );
    let refused = it.send("do=use").await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert!(refused.text().contains("role=\"alert\""));
    // A form of a page from before.
    let late = format!(
        "form_token={}&digest={digest}&do=rename&node=red&to=rot",
        it.token
    );
    let late = it.browser.send(&it.place, &late).await;
    assert_eq!(late.status, 409);
    assert!(late.text().contains("Somebody changed the hierarchy"));
    let forged = format!("form_token={}&digest={digest}&do=use", "5e".repeat(32));
    assert_eq!(it.browser.send(&it.place, &forged).await.status, 403);
}

async fn a_large_tree_is_a_small_page(server: Server) {
    let mut it = Correcting::begun(&server, &["uploader", "steward"]).await;
    let lines = (0..10_000).map(|leaf| format!("{leaf:05} of many;{:03} of them;*\n", leaf / 40));
    let csv: String = lines.collect();
    let put = it
        .client
        .call("put_dataset_hierarchy")
        .at("id", &it.dataset);
    let put = put.at("name", "large").body("text/csv", csv).send().await;
    put.expect(201);
    let place = format!("/datasets/{}/hierarchies/large", it.dataset);
    for (query, said) in [
        ("", "10\u{202f}000"),
        ("?at=249+of+them", "?at=09999+of+many"),
        ("?q=of", "The first hundred are shown"),
        ("?q=09999", "<mark>09999 of many</mark>"),
        ("?at=nowhere", "There is no node of this name."),
    ] {
        let page = it.browser.open(&format!("{place}{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert!(
            page.body.len() < 100 << 10,
            "{query}: {} bytes",
            page.body.len()
        );
        assert!(page.text().contains(said), "{query}: {}", page.text());
    }
}

async fn hierarchies_are_seen_by_who_works_with_the_dataset(server: Server) {
    let it = Correcting::begun(&server, &["uploader", "steward"]).await;
    for (role, status) in [
        ("uploader", 200),
        ("steward", 200),
        ("analyst", 403),
        ("consent", 403),
    ] {
        let mut browser = Browser::new(&server);
        browser.sign_in(&server.key(&[role]).await).await;
        for place in [it.place.clone(), format!("{}/content", it.place)] {
            assert_eq!(browser.open(&place).await.status, status, "{role} {place}");
        }
        let page = browser.open(&it.place).await.text();
        // A review is for stewards.
        assert_eq!(page.contains("What the review finds"), role == "steward");
        let form = format!(
            "form_token={}&do=rename&node=red&to=rot",
            browser.form_token().await
        );
        let sent = browser.send(&it.place, &form).await;
        assert_eq!(sent.status, if status == 200 { 409 } else { 403 }, "{role}");
    }
    let mut browser = Browser::new(&server);
    let place = format!("/datasets/{}/hierarchies/nowhere", it.dataset);
    assert_eq!(browser.open(&place).await.status, 303);
    browser.sign_in(&it.client).await;
    assert_eq!(browser.open(&place).await.status, 404);
}

async fn labels_are_text(server: Server) {
    let mut it = Correcting::begun(&server, &["uploader", "steward"]).await;
    let hostile =
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+%E2%80%AE";
    let put = it.send(&format!("do=rename&node=warm&to={hostile}")).await;
    assert_eq!(put.status, 303, "{}", put.text());
    let to = put.header("location").expect("a place").to_owned();
    for place in [it.place.clone(), to, format!("{}?q=script", it.place)] {
        let page = it.browser.open(&place).await.text();
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        assert!(
            !page.contains("<script>alert") && !page.contains("<img"),
            "{page}"
        );
    }
}
