//! Consent pages as a person's browser sees them, without scripts.
//!
//! `story` chooses, looks up and withdraws; `refusals` brings codes that open nothing;
//! `texts` reads the pages in other languages, with texts of others. The browser sends
//! forms as they stand on a page, and checks of every answer what holds for all pages.

mod refusals;
mod story;
mod texts;

use serde_json::{Value, json};

use super::story as wards;
use crate::common::client::{Answer, Client};

/// A person's browser: it keeps nothing, and says what language it likes.
struct Browser {
    client: Client,
    language: &'static str,
}

/// The fields of a page's form as it stands: hidden ones, and what is selected.
struct Form(Vec<(String, String)>);

impl Form {
    fn of(page: &Answer) -> Self {
        let text = page.text();
        let fields = text.split("<input").skip(1).filter_map(|rest| {
            let tag = rest.split('>').next()?;
            let attribute = |name: &str| {
                let value = tag.split(&format!(" {name}=\"")).nth(1)?;
                Some(value.split('"').next()?.to_owned())
            };
            let is_sent = match attribute("type").as_deref() {
                Some("radio") => tag.ends_with(" checked"),
                _ => true,
            };
            is_sent.then_some((attribute("name")?, attribute("value")?))
        });
        Self(fields.collect())
    }

    /// The same with a field set.
    fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(own, _)| own != name);
        self.0.push((name.into(), value.into()));
        self
    }

    fn field(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Browser {
    fn new(client: Client) -> Self {
        Self {
            client,
            language: "en",
        }
    }

    fn checked(answer: Answer) -> Answer {
        assert!(answer.header("set-cookie").is_none());
        assert_eq!(answer.media_type(), Some("text/html"), "{}", answer.text());
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        answer
    }

    async fn open(&self, path: &str) -> Answer {
        let headers = [("accept-language", self.language.to_owned())];
        let answer = self.client.send_whole("GET", path, &headers, "").await;
        Self::checked(answer)
    }

    /// Sends a form. A browser that is asked for no referrer names no origin.
    async fn send(&self, path: &str, form: &Form) -> Answer {
        let headers = [
            ("accept-language", self.language.to_owned()),
            ("origin", "null".to_owned()),
            (
                "content-type",
                "application/x-www-form-urlencoded".to_owned(),
            ),
        ];
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(&form.0);
        let body = body.finish();
        let answer = self.client.send_whole("POST", path, &headers, body).await;
        Self::checked(answer)
    }

    async fn choices(&self, code: &str) -> Answer {
        let begin = self.open("/consent").await;
        self.send("/consent", &Form::of(&begin).with("code", code))
            .await
    }

    async fn look_up(&self, code: &str) -> Answer {
        let begin = self.open("/my-preferences/receipt").await;
        let form = Form::of(&begin).with("code", code);
        self.send("/my-preferences/receipt", &form).await
    }

    /// Chooses with these fields, and confirms.
    async fn choose(&self, code: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = Form::of(&self.choices(code).await);
        for (name, value) in fields {
            form = form.with(name, value);
        }
        let asked = self.send("/consent/choice", &form).await;
        assert_eq!(asked.status, 200, "{}", asked.text());
        let form = Form::of(&asked).with("confirm", "yes");
        let receipt = self.send("/consent/choice", &form).await;
        assert_eq!(receipt.status, 200, "{}", receipt.text());
        receipt
    }
}

/// The code that a receipt shows, as somebody reads it aloud.
fn receipt_code(page: &Answer) -> String {
    let text = page.text();
    let code = text.split("<code class=\"spoken\">").nth(1);
    let code = code.and_then(|rest| rest.split('<').next());
    let code = code.unwrap_or_else(|| panic!("no code: {text}"));
    assert!(code.starts_with("vr_ ") && code.len() > 40, "{code}");
    code.to_owned()
}

/// The schema of the story, with words for people.
fn schema() -> Value {
    let mut schema = wards::schema();
    schema["title"] = json!({"en": "Stays in hospital", "de": "Aufenthalte im Krankenhaus"});
    schema["purpose"] =
        json!({"en": "How long people stay.\nNothing else.", "de": "Wie lange Menschen bleiben."});
    schema["contact"] = json!({"en": "Dr. Ada, room 5", "de": "Dr. Ada, Zimmer 5"});
    schema["attributes"][1]["title"] = json!({"en": "Your age", "de": "Ihr Alter"});
    schema["attributes"][1]["description"] = json!({"en": "In whole years."});
    schema["attributes"][2]["title"] = json!({"en": "Your sex", "de": "Ihr Geschlecht"});
    schema
}

/// A dataset of 120 people of this schema; its id.
async fn dataset(client: &Client, schema: &Value) -> String {
    let made = client.call("create_dataset").json(schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    wards::put_hierarchy(client, &id, ("ward", wards::HIERARCHY)).await;
    let uploaded = wards::upload(client, &id, wards::records(0, 120)).await;
    uploaded.expect(201);
    id
}

/// A code for a person of a dataset.
async fn code(client: &Client, dataset: &str, wish: Value) -> String {
    let call = client.call("create_subject_tokens").at("id", dataset);
    let made = call.json(&wish).send().await.expect(201);
    let token = made["items"][0]["token"].as_str().expect("a token");
    token.to_owned()
}

async fn terms(client: &Client, dataset: &str) -> Value {
    let call = client.call("get_preference").at("id", dataset);
    call.at("subject", "p1").send().await.expect(200)["terms"].clone()
}
