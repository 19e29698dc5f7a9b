//! The page that asks a release: rounds of its form, answers, and refusals
//! beside their fields.

use serde_json::{Value, json};

use super::{Browser, Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    an_analyst_asks_by_a_form_what_a_program_asks_by_json,
    a_condition_is_added_and_taken_away_and_the_rest_of_the_form_stays,
    what_is_wrong_with_a_question_stands_beside_its_field,
    who_may_not_read_a_release_asks_it_nothing,
    a_release_of_people_says_that_it_cannot_be_asked,
);

/// A published release, by a key that may do it.
async fn published(server: &Server, job: impl FnOnce(&mut Value)) -> (Client, String) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let mut spec = story::job(&dataset);
    job(&mut spec);
    let release = story::release(&steward, &spec).await;
    server.publish(&steward, &release).await.expect(200);
    (steward, release)
}

/// An analyst at the page of queries.
struct Asking {
    browser: Browser,
    place: String,
    token: String,
}

impl Asking {
    async fn begun(server: &Server, release: &str) -> Self {
        let mut browser = Browser::new(server);
        browser.sign_in(&server.key(&["analyst"]).await).await;
        let token = browser.form_token().await;
        let place = format!("/releases/{release}/query");
        Self {
            browser,
            place,
            token,
        }
    }

    async fn send(&mut self, fields: &str) -> Answer {
        let form = format!("form_token={}&{fields}", self.token);
        self.browser.send(&self.place, &form).await
    }

    /// The position of an attribute among those that a form names.
    async fn position(&mut self, name: &str) -> usize {
        let page = self.browser.open(&self.place).await.text();
        let choice = page.split("name=\"add\"").nth(1).expect("a choice");
        let options = choice.split("</select>").next().expect("options");
        let mut options = options.split("</option>");
        let found = options.position(|option| option.ends_with(&format!(">{name}")));
        found.expect("the attribute")
    }
}

async fn an_analyst_asks_by_a_form_what_a_program_asks_by_json(server: Server) {
    let (_, release) = published(&server, |_| {}).await;
    let analyst = server.key(&["analyst"]).await;
    let mut asking = Asking::begun(&server, &release).await;
    let page = asking.browser.open(&format!("/releases/{release}")).await;
    assert!(page.text().contains(&format!("href=\"{}\"", asking.place)));
    let (age, sex, cost) = (
        asking.position("age").await,
        asking.position("sex").await,
        asking.position("cost").await,
    );
    let fields = format!(
        "do=ask&count=on&average={cost}&group={sex}&condition=0&attribute.0={age}&test.0=between&value.0=30&upper.0=59"
    );
    let page = asking.send(&fields).await;
    assert_eq!((page.status, page.media_type()), (200, Some("text/html")));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let text = page.text();
    let query = json!({"count": true, "avg": ["cost"], "group_by": ["sex"],
        "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 59}]});
    let call = analyst.call("query_release").at("id", &release);
    let told = call.json(&query).send().await.expect(200);
    let cells = told["cells"].as_array().expect("cells");
    assert_eq!(text.matches("class=\"track\"").count(), 2 * cells.len());
    for cell in cells {
        let rows = cell["rows"].as_u64().expect("a number");
        assert!(
            text.contains(&format!("<td class=\"n\">{rows}</td>")),
            "{text}"
        );
    }
    // The form goes on from what was asked, and a file is the API's own answer.
    assert!(text.contains("name=\"value.0\" aria-label=\"Value of age\" value=\"30\""));
    let file = asking.send(&fields.replace("do=ask", "do=json")).await;
    let kept = file
        .header("content-disposition")
        .expect("a name")
        .to_owned();
    assert!(kept.starts_with("attachment"), "{kept}");
    assert_eq!(file.expect(200), told);
}

async fn a_condition_is_added_and_taken_away_and_the_rest_of_the_form_stays(server: Server) {
    let (_, release) = published(&server, |_| {}).await;
    let mut asking = Asking::begun(&server, &release).await;
    let (ward, sex) = (asking.position("ward").await, asking.position("sex").await);
    let added = asking.send(&format!("do=add&add={ward}&group={sex}")).await;
    let text = added.text();
    for part in ["warm", "red", "orange", "cold"] {
        assert!(
            text.contains(&format!("value=\"{part}\">{part}</option>")),
            "{part}: {text}"
        );
    }
    assert!(text.contains(&format!("name=\"group\" value=\"{sex}\" checked")));
    assert!(!text.contains("name=\"count\" checked"), "nobody ticked it");
    // A category without a hierarchy: what the release shows.
    let fields = format!("add={sex}&condition=0&attribute.0={ward}&test.0=%3D&value.0=warm");
    let both = asking.send(&format!("do=add&{fields}")).await.text();
    assert!(both.contains("value=\"warm\" selected"));
    assert!(both.contains("value=\"F\">F</option>") && both.contains("value=\"M\">M</option>"));
    let gone = asking.send(&format!("do=remove.0&{fields}")).await.text();
    assert!(gone.contains("No condition"), "{gone}");
    // More rows than there are, and rows of what is not there.
    for odd in [
        "do=remove.9",
        "do=add&add=999",
        "do=remove.x",
        "condition=0&attribute.0=999&do=add",
    ] {
        assert_eq!(asking.send(odd).await.status, 200, "{odd}");
    }
}

async fn what_is_wrong_with_a_question_stands_beside_its_field(server: Server) {
    let (_, release) = published(&server, |job| job["hierarchies"] = json!("withhold")).await;
    let mut asking = Asking::begun(&server, &release).await;
    let (age, ward) = (asking.position("age").await, asking.position("ward").await);
    for (fields, said) in [
        ("do=ask".to_owned(), "Choose what you want to know"),
        (
            format!("do=ask&count=on&condition=0&attribute.0={age}&test.0=%3C&value.0=x"),
            "It is not a number.",
        ),
        (
            format!("do=ask&count=on&condition=0&attribute.0={ward}&test.0=%3D&value.0=nowhere"),
            "hierarchy that is not published",
        ),
        (
            format!("do=ask&count=on&group={ward}"),
            "hierarchy that is not published",
        ),
    ] {
        let page = asking.send(&fields).await;
        assert_eq!(page.status, 422, "{fields}: {}", page.text());
        let text = page.text();
        let alert = text.split("role=\"alert\">").nth(1).expect("an alert");
        let alert = alert.split("</p>").next().expect("its end");
        assert!(alert.contains(said), "{fields}: {alert}");
        assert!(
            !alert.contains("where[") && !alert.contains("nowhere"),
            "{alert}"
        );
    }
    let mut asking = Asking::begun(&server, &release).await;
    asking.token = "5e".repeat(32);
    assert_eq!(asking.send("do=ask&count=on").await.status, 403);
}

async fn who_may_not_read_a_release_asks_it_nothing(server: Server) {
    let (steward, release) = published(&server, |_| {}).await;
    let place = format!("/releases/{release}/query");
    for (role, status) in [
        ("analyst", 200),
        ("steward", 200),
        ("uploader", 403),
        ("auditor", 403),
    ] {
        let mut browser = Browser::new(&server);
        browser.sign_in(&server.key(&[role]).await).await;
        assert_eq!(browser.open(&place).await.status, status, "{role}");
        let form = format!("form_token={}&do=ask&count=on", browser.form_token().await);
        assert_eq!(browser.send(&place, &form).await.status, status, "{role}");
    }
    let mut stranger = Browser::new(&server);
    assert_eq!(stranger.open(&place).await.status, 303);
    let call = steward.call("withdraw_release").at("id", &release);
    call.send().await.expect(200);
    let mut asking = Asking::begun(&server, &release).await;
    assert_eq!(asking.send("do=ask&count=on").await.status, 404);
}

async fn a_release_of_people_says_that_it_cannot_be_asked(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let mut schema = story::schema();
    schema["multiplicity"] = json!("many");
    for (at, role) in [
        (1, "quasi_identifier"),
        (2, "quasi_identifier"),
        (3, "sensitive"),
        (4, "ignore"),
    ] {
        schema["attributes"][at]["role"] = json!(role);
    }
    let made = steward.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(&steward, &id, ("ward", story::HIERARCHY)).await;
    story::upload(&steward, &id, story::records(0, 120))
        .await
        .expect(201);
    let parameters = json!({"k": 2, "m": 1, "delta": 0.9, "max_excluded": 0.9});
    let job = json!({"dataset": id, "engine": "rmr", "parameters": parameters});
    let release = story::release(&steward, &job).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&steward).await;
    let page = browser.open(&format!("/releases/{release}/query")).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("it cannot be asked"));
    let page = browser.open(&format!("/releases/{release}")).await.text();
    assert!(!page.contains("/query\""));
}
