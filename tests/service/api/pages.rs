//! Pages for people: who gets in, what ends a session, and what other sites can't do.

mod audit;
mod catalogue;
mod explorations;
mod hierarchies;
mod orders;
mod queries;

use serde_json::{Value, json};
use vizard::config::{Limits, Settings};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_page_asks_who_is_there_and_goes_on_from_where_it_was,
    a_session_opens_pages_and_nothing_else,
    a_cookie_from_before_is_no_session_after,
    a_form_of_another_site_does_nothing,
    a_session_ends_with_its_key_and_with_signing_out,
    a_wrong_key_is_told_in_one_way,
    a_page_shows_what_its_reader_may_see,
    what_people_typed_is_shown_as_text,
    signing_in_and_out_is_in_the_log,
    a_script_sends_what_its_own_session_may_and_nothing_else,
    beside_others_a_release_is_published_with_a_reason_by_two,
);

const COOKIE: &str = "__Host-vizard";

/// A browser: it keeps a cookie, and says where its forms come from.
struct Browser {
    client: Client,
    cookie: Option<String>,
}

impl Browser {
    fn new(server: &Server) -> Self {
        Self {
            client: server.anyone(),
            cookie: None,
        }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let cookie = self.cookie.iter();
        let cookie = cookie.map(|secret| ("cookie", format!("{COOKIE}={secret}")));
        cookie.collect()
    }

    async fn open(&mut self, path: &str) -> Answer {
        let headers = self.headers();
        let answer = self.client.send_whole("GET", path, &headers, "").await;
        self.keep(&answer);
        answer
    }

    /// Sends a form, as from a page of an origin.
    async fn send_from(&mut self, origin: &str, path: &str, form: &str) -> Answer {
        let mut headers = self.headers();
        headers.push(("origin", origin.to_owned()));
        let kind = "application/x-www-form-urlencoded";
        headers.push(("content-type", kind.to_owned()));
        let sent = self
            .client
            .send_whole("POST", path, &headers, form.to_owned());
        let answer = sent.await;
        self.keep(&answer);
        answer
    }

    async fn send(&mut self, path: &str, form: &str) -> Answer {
        let origin = format!("http://{}", self.client.address());
        self.send_from(&origin, path, form).await
    }

    fn keep(&mut self, answer: &Answer) {
        let Some(set) = answer.header("set-cookie") else {
            return;
        };
        let (pair, flags) = set.split_once(';').expect("a cookie has flags");
        for flag in [
            "Path=/",
            "Secure",
            "HttpOnly",
            "SameSite=Strict",
            "Max-Age=",
        ] {
            assert!(flags.contains(flag), "{flag}: {set}");
        }
        assert!(!flags.contains("Domain"), "{set}");
        let secret = pair.strip_prefix(&format!("{COOKIE}=")).expect("our name");
        self.cookie = (!secret.is_empty()).then(|| secret.to_owned());
    }

    async fn sign_in(&mut self, key: &Client) {
        let answer = self.send("/signin", &format!("key={}", key.token())).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        assert!(self.cookie.is_some());
    }

    /// Sends what a script of a page sends, with a token of its forms.
    async fn script(&self, path: &str, token: &str, body: impl Into<String>) -> Answer {
        let mut headers = self.headers();
        headers.push(("origin", format!("http://{}", self.client.address())));
        headers.push(("x-form-token", token.to_owned()));
        headers.push(("content-type", "text/csv".to_owned()));
        self.client
            .send_whole("POST", path, &headers, body.into())
            .await
    }

    /// What its forms carry.
    async fn form_token(&mut self) -> String {
        let page = self.open("/").await.text();
        let field = page.split("name=\"form_token\" value=\"").nth(1);
        let token = field.and_then(|rest| rest.split('"').next());
        token.expect("a form").to_owned()
    }
}

async fn a_page_asks_who_is_there_and_goes_on_from_where_it_was(server: Server) {
    let steward = server.key(&["steward"]).await;
    let mut browser = Browser::new(&server);
    for place in ["/datasets", "/jobs?state=failed", "/releases", "/audit"] {
        let answer = browser.open(place).await;
        assert_eq!(answer.status, 303, "{place}");
        let to = answer.header("location").expect("a place");
        assert!(to.starts_with("/signin?next=%2F"), "{place}: {to}");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    }
    let form = format!("key={}&next=%2Fjobs%3Fstate%3Dfailed", steward.token());
    let answer = browser.send("/signin", &form).await;
    assert_eq!(answer.header("location"), Some("/jobs?state=failed"));
    let page = browser.open("/jobs?state=failed").await;
    assert_eq!(page.status, 200);
    let form = format!("key={}&next=https%3A%2F%2Fevil.example", steward.token());
    let answer = browser.send("/signin", &form).await;
    assert_eq!(answer.header("location"), Some("/"));
}

async fn a_session_opens_pages_and_nothing_else(server: Server) {
    let steward = server.key(&["steward"]).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&steward).await;
    assert_eq!(browser.open("/datasets").await.status, 200);
    let secret = browser.cookie.clone().expect("it signed in");
    assert!(!steward.token().contains(&secret));
    // The API takes no cookie, and no session as a token.
    let refused = browser.open("/v1/datasets").await;
    refused.expect_problem(401, "unauthenticated");
    let refused = server.anyone().with(&secret).call("list_datasets");
    refused.send().await.expect_problem(401, "unauthenticated");
    // A key is no cookie.
    browser.cookie = Some(steward.token().to_owned());
    assert_eq!(browser.open("/datasets").await.status, 303);
}

async fn a_cookie_from_before_is_no_session_after(server: Server) {
    let steward = server.key(&["steward"]).await;
    let mut browser = Browser::new(&server);
    let planted = "0123456789abcdef".repeat(4);
    browser.cookie = Some(planted.clone());
    browser.sign_in(&steward).await;
    let first = browser.cookie.clone().expect("it signed in");
    assert_ne!(first, planted);
    browser.sign_in(&steward).await;
    let second = browser.cookie.clone().expect("it signed in again");
    for (secret, status) in [(planted, 303), (first, 303), (second, 200)] {
        browser.cookie = Some(secret);
        assert_eq!(browser.open("/datasets").await.status, status);
    }
}

async fn a_form_of_another_site_does_nothing(server: Server) {
    let steward = server.key(&["steward"]).await;
    let mut browser = Browser::new(&server);
    let key = format!("key={}", steward.token());
    for origin in ["https://evil.example", "null"] {
        let refused = browser.send_from(origin, "/signin", &key).await;
        assert_eq!(refused.status, 403, "{origin}");
        assert!(browser.cookie.is_none());
    }
    browser.sign_in(&steward).await;
    let token = browser.form_token().await;
    let form = format!("form_token={token}");
    let refused = browser
        .send_from("https://evil.example", "/signout", &form)
        .await;
    assert_eq!(refused.status, 403);
    // Who knows no token of this session's forms, or that of another one.
    let mut other = Browser::new(&server);
    other.sign_in(&steward).await;
    let others = format!("form_token={}", other.form_token().await);
    for form in ["", "form_token=", others.as_str()] {
        let refused = browser.send("/signout", form).await;
        assert_eq!(refused.status, 403, "{form}");
        assert_eq!(refused.media_type(), Some("text/html"));
    }
    assert_eq!(
        browser.open("/datasets").await.status,
        200,
        "still signed in"
    );
    assert_eq!(browser.send("/signout", &form).await.status, 303);
}

async fn a_session_ends_with_its_key_and_with_signing_out(server: Server) {
    let steward = server.key(&["steward"]).await;
    let (mut one, mut two) = (Browser::new(&server), Browser::new(&server));
    one.sign_in(&steward).await;
    two.sign_in(&steward).await;
    let secret = one.cookie.clone();
    let form = format!("form_token={}", one.form_token().await);
    let out = one.send("/signout", &form).await;
    assert_eq!((out.status, one.cookie.clone()), (303, None));
    // Who kept the cookie has nothing.
    one.cookie = secret;
    assert_eq!(one.open("/datasets").await.status, 303);
    assert_eq!(two.open("/datasets").await.status, 200);
    let keys = server.operator().call("list_keys").send().await.expect(200);
    let revoke = server.operator().call("revoke_key");
    let id = keys["items"][0]["id"].as_str().expect("an id");
    revoke.at("id", id).send().await.expect(200);
    assert_eq!(two.open("/datasets").await.status, 303);
}

async fn a_wrong_key_is_told_in_one_way(server: Server) {
    let mut browser = Browser::new(&server);
    let mut told = Vec::new();
    for key in ["", "vz_x", "a.b.c", "%00", "<script>alert(1)</script>"] {
        let page = browser.send("/signin", &format!("key={key}")).await;
        assert_eq!(page.status, 401, "{key}");
        assert_eq!(page.media_type(), Some("text/html"));
        assert!(page.header("set-cookie").is_none());
        told.push(page.text());
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_of_a_key_are_held_up_and_a_good_key_is_not() {
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
    let steward = server.key(&["steward"]).await;
    steward.call("list_datasets").send().await.expect(200);
    let mut browser = Browser::new(&server);
    let mut told = Vec::new();
    for guess in 0..10 {
        let page = browser.send("/signin", &format!("key=vz_{guess}")).await;
        told.push(page.status);
    }
    assert!(told.contains(&429), "{told:?}");
    browser.sign_in(&steward).await;
}

async fn a_page_shows_what_its_reader_may_see(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let (steward, analyst) = (
        server.key(&["steward"]).await,
        server.key(&["analyst"]).await,
    );
    server.work();
    let release = story::release(&steward, &story::job(&id)).await;
    let place = format!("/releases/{release}");
    let (mut first, mut second) = (Browser::new(&server), Browser::new(&server));
    first.sign_in(&steward).await;
    second.sign_in(&analyst).await;
    let draft = first.open(&place).await;
    assert_eq!(draft.status, 200);
    assert!(draft.text().contains("Publish it?"));
    assert_eq!(
        second.open(&place).await.status,
        404,
        "a draft is no release"
    );
    assert_eq!(second.open("/datasets").await.status, 403);
    assert_eq!(second.open("/audit").await.status, 403);
    let form = format!("form_token={}", second.form_token().await);
    let refused = second.send(&format!("{place}/publish"), &form).await;
    assert_eq!(refused.status, 403);
    let form = format!("form_token={}", first.form_token().await);
    let published = first.send(&format!("{place}/publish"), &form).await;
    assert_eq!(published.status, 303, "{}", published.text());
    let shown = second.open(&place).await.text();
    assert!(shown.contains("What may I do with it") && !shown.contains("Take it back?"));
    let table = format!("{place}/tables/microdata?format=csv");
    let table = second.open(&table).await;
    assert_eq!((table.status, table.media_type()), (200, Some("text/csv")));
    let report = second.open(&format!("{place}/report")).await;
    assert_eq!(
        (report.status, report.media_type()),
        (200, Some("text/html"))
    );
    let withdrawn = first.send(&format!("{place}/withdraw"), &form).await;
    assert_eq!(withdrawn.status, 303);
    assert_eq!(second.open(&place).await.status, 404);
    assert!(first.open(&place).await.text().contains("withdrawn"));
}

async fn what_people_typed_is_shown_as_text(server: Server) {
    let uploader = server.key(&["uploader", "steward"]).await;
    let hostile = "<script>alert(1)</script>\"><img src=x onerror=alert(1)> \u{202e}";
    let mut schema = story::schema();
    schema["name"] = json!(hostile);
    let made = uploader.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].clone();
    let mut browser = Browser::new(&server);
    browser.sign_in(&uploader).await;
    let id = id.as_str().expect("an id");
    for place in ["/", "/datasets", &format!("/datasets/{id}")] {
        let page = browser.open(place).await;
        assert_eq!(page.status, 200, "{place}");
        let text = page.text();
        assert!(text.contains("&lt;script&gt;alert(1)"), "{place}");
        assert!(
            !text.contains("<script>alert") && !text.contains("<img"),
            "{place}"
        );
    }
    for place in [
        "/jobs/%22%3E%3Cscript%3E",
        "/datasets/..%2f..%2fv1",
        "/releases/%ff",
    ] {
        let page = browser.open(place).await;
        assert!(
            (400..500).contains(&page.status),
            "{place}: {}",
            page.status
        );
        assert_eq!(page.media_type(), Some("text/html"), "{place}");
        assert!(!page.text().contains("<script>"), "{place}");
    }
}

async fn signing_in_and_out_is_in_the_log(server: Server) {
    let auditor = server.key(&["auditor"]).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&auditor).await;
    let secret = browser.cookie.clone().expect("it signed in");
    let form = format!("form_token={}", browser.form_token().await);
    browser.send("/signout", &form).await;
    let log = auditor.call("list_audit").send().await.expect(200);
    let rows = log["items"].as_array().expect("rows");
    let actions: Vec<&Value> = rows.iter().map(|row| &row["action"]).collect();
    for action in ["sign_in", "sign_out"] {
        assert!(actions.contains(&&json!(action)), "{actions:?}");
    }
    assert!(!log.to_string().contains(&secret));
}

async fn a_script_sends_what_its_own_session_may_and_nothing_else(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&uploader).await;
    let token = browser.form_token().await;
    let proposed = json!({
        "schema": story::schema(),
        "hierarchies": {"ward": {"rule": "flat", "values": ["red", "orange", "blue", "violet"]}},
    });
    let proposed = proposed.to_string();
    let place = "/datasets/new/dataset";
    let mut other = Browser::new(&server);
    other.sign_in(&uploader).await;
    let others = other.form_token().await;
    for wrong in ["", "x", others.as_str()] {
        let refused = browser.script(place, wrong, proposed.clone()).await;
        assert_eq!(refused.status, 403, "{wrong}");
    }
    // Who makes a cookie up has no session, whatever the token is.
    let mut stranger = Browser::new(&server);
    stranger.cookie = Some("5e".repeat(32));
    for path in [place, "/datasets/new/inspection"] {
        let refused = stranger.script(path, &token, proposed.clone()).await;
        assert_eq!(refused.status, 403, "{path}");
    }
    let records = story::records(0, 40);
    let looked = browser.script("/datasets/new/inspection", &token, records.clone());
    let looked = looked.await;
    assert_eq!(looked.status, 200, "{}", looked.text());
    assert!(looked.text().contains("data-attribute=\"cost\""));
    let made = browser.script(place, &token, proposed).await.expect(200);
    let id = made["id"].as_str().expect("an id");
    let place = format!("/datasets/{id}/records");
    let wrong = browser.script(&place, &token, "patient,age\np1,x\n").await;
    assert!(
        wrong.status == 422 || wrong.status == 400,
        "{}",
        wrong.text()
    );
    let kept = browser.script(&place, &token, records).await.expect(201);
    assert_eq!(kept["records"], 40);
}

async fn beside_others_a_release_is_published_with_a_reason_by_two(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let (one, two) = (
        server.key(&["steward"]).await,
        server.key(&["steward"]).await,
    );
    server.work();
    let public = story::release(&one, &story::job(&id)).await;
    server.publish(&one, &public).await.expect(200);
    let mut job = story::job(&id);
    job["parameters"] = json!({"k": 4, "l": 2});
    let release = story::release(&one, &job).await;
    let place = format!("/releases/{release}");
    let mut first = Browser::new(&server);
    first.sign_in(&one).await;
    let draft = first.open(&place).await.text();
    assert!(
        !draft.contains("name=\"reason\""),
        "no reason before it is asked for"
    );
    let form = format!("form_token={}", first.form_token().await);
    let asked = first.send(&format!("{place}/publish"), &form).await;
    assert_eq!(asked.status, 409, "{}", asked.text());
    assert!(asked.text().contains("name=\"reason\""));
    let form = format!("{form}&reason=both+are+wanted");
    let approved = first.send(&format!("{place}/publish"), &form).await;
    assert_eq!(approved.status, 303, "{}", approved.text());
    let waits = first.open(&place).await.text();
    assert!(waits.contains("It waits for another steward"), "{waits}");
    let mut second = Browser::new(&server);
    second.sign_in(&two).await;
    let shown = second.open(&place).await.text();
    assert!(shown.contains("value=\"both are wanted\""), "{shown}");
    let form = format!("form_token={}", second.form_token().await);
    let form = format!("{form}&reason=both+are+wanted");
    let published = second.send(&format!("{place}/publish"), &form).await;
    assert_eq!(published.status, 303, "{}", published.text());
    assert!(second.open(&place).await.text().contains("Take it back?"));
}
