//! Languages, texts of an operator, and texts that somebody put into a schema.

use std::collections::BTreeMap;

use serde_json::json;
use vizard::config::Settings;

use super::{Browser, Form, code, dataset, schema};
use crate::api::{Server, on_both};

on_both!(
    pages_speak_the_readers_language,
    another_language_keeps_what_was_typed_and_selected,
    texts_of_a_schema_never_become_markup,
);

async fn pages_speak_the_readers_language(server: Server) {
    let mut browser = Browser::new(server.anyone());
    for (language, tag, said) in [
        ("de-AT,en;q=0.5", "de", "Geben Sie ihn hier ein."),
        ("pl,fr;q=0.8,en;q=0.1", "fr", "Saisissez-le ici."),
        ("es", "es", "Escríbalo aquí."),
        ("pl", "en", "Type it in here."),
    ] {
        browser.language = language;
        let text = browser.open("/consent").await.text();
        assert!(
            text.contains(&format!("<html lang=\"{tag}\" dir=\"ltr\">")),
            "{text}"
        );
        assert!(text.contains(said), "{text}");
    }
    let text = browser.open("/consent?lang=es").await.text();
    assert!(text.contains("<html lang=\"es\""), "{text}");
}

async fn another_language_keeps_what_was_typed_and_selected(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &schema()).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let typed = Form(vec![
        ("code".into(), "half a co\"de".into()),
        ("switch".into(), "de".into()),
    ]);
    let page = browser.send("/consent/language", &typed).await;
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains("value=\"half a co&quot;de\""),
        "{}",
        page.text()
    );

    let choices = browser.choices(&code).await;
    let form = Form::of(&choices).with("take", "in").with("hide.sex", "no");
    let form = form.with("people", "10").with("switch", "de");
    let page = browser.send("/consent", &form).await;
    let text = page.text();
    for said in [
        "Aufenthalte im Krankenhaus",
        "Ihr Alter",
        "Dr. Ada, Zimmer 5",
        "lang=\"en\">In whole years.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let kept = Form::of(&page);
    for (name, value) in [
        ("take", "in"),
        ("hide.age", "yes"),
        ("hide.sex", "no"),
        ("people", "10"),
        ("lang", "de"),
    ] {
        assert_eq!(kept.field(name), Some(value), "{name}");
    }
    let asked = browser.send("/consent/choice", &kept).await;
    assert!(asked.text().contains("Stimmt das so?"), "{}", asked.text());
    let asked = browser
        .send("/consent/choice", &Form::of(&asked).with("switch", "fr"))
        .await;
    assert!(
        asked.text().contains("Est-ce bien cela"),
        "{}",
        asked.text()
    );
    assert!(
        asked.text().contains("montré\u{a0}: Your sex"),
        "{}",
        asked.text()
    );
    let back = browser.send("/consent", &Form::of(&asked)).await;
    assert_eq!(Form::of(&back).field("people"), Some("10"));
}

async fn texts_of_a_schema_never_become_markup(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let hostile = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>";
    let mut schema = schema();
    for place in ["title", "purpose", "contact"] {
        schema[place] = json!({"en": hostile});
    }
    for at in 0..5 {
        schema["attributes"][at]["title"] = json!({"en": hostile});
        schema["attributes"][at]["description"] = json!({"en": hostile});
    }
    let id = dataset(&client, &schema).await;
    let code = code(&client, &id, json!({"subjects": ["p1"]})).await;
    let browser = Browser::new(server.anyone());
    let choices = browser.choices(&code).await;
    let form = Form::of(&choices).with("take", "in");
    let asked = browser.send("/consent/choice", &form).await;
    let receipt = browser.choose(&code, &[("take", "in")]).await;
    for page in [choices, asked, receipt] {
        let text = page.text();
        assert_eq!(page.status, 200);
        assert!(text.contains("&lt;script&gt;alert(1)"), "{text}");
        assert!(
            !text.contains("<script>") && !text.contains("<img"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_of_an_operator_are_shown_in_place_of_the_shipped_ones() {
    let own = |pairs: &[(&str, &str)]| {
        let pair = |&(key, text): &(&str, &str)| (key.to_owned(), text.to_owned());
        pairs.iter().map(pair).collect::<BTreeMap<_, _>>()
    };
    let settings = Settings {
        consent_texts: BTreeMap::from([
            ("en".into(), own(&[("error_code", "Call <b>555</b>.")])),
            (
                "ar".into(),
                own(&[("language", "العربية"), ("direction", "rtl")]),
            ),
        ]),
        ..Settings::default()
    };
    let server = Server::sqlite_with(settings).await;
    let mut browser = Browser::new(server.anyone());
    let page = browser.choices("vs_").await.text();
    assert!(page.contains("Call &lt;b&gt;555&lt;/b&gt;."), "{page}");
    browser.language = "ar";
    let page = browser.open("/consent").await.text();
    assert!(page.contains("<html lang=\"ar\" dir=\"rtl\">"), "{page}");
    assert!(
        page.contains("Type it in here."),
        "what is not said is English: {page}"
    );
}
