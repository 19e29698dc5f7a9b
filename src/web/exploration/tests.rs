//! Tests of the page of an exploration.

use serde_json::json;

use super::*;

fn exploration() -> Value {
    json!({
        "loss": "query_error", "risk": "leakage_mean", "front": [2, 1], "best": [2],
        "settings": [
            {"setting": 1, "engine": "lgb", "parameters": {"k": 5}, "state": "succeeded",
             "loss": 0.5, "risk": 0.1, "problem": null,
             "measures": {"records": 9, "left_out": 0.0, "query_error": 0.5}},
            {"setting": 2, "engine": "mondrian", "parameters": {"k": 2}, "state": "succeeded",
             "loss": 0.2, "risk": 0.3, "problem": null, "measures": {"records": 9, "left_out": 0}},
            {"setting": 3, "engine": "arp", "parameters": {"l": 9, "sensitive": ["<b>"]},
             "state": "failed", "problem": "no l of 9 & more", "measures": null,
             "loss": null, "risk": null},
        ],
        "refused": [{"engine": "rmr", "parameters": {}, "parameter": "m", "reason": "missing"}],
    })
}

#[test]
fn each_setting_is_in_the_table_and_each_measured_one_in_the_picture() {
    let page = exploration_page(&exploration(), &json!({"name": "ward <7>"}));
    assert!(page.contains("Exploration of ward &lt;7&gt;"));
    assert_eq!(
        page.matches("class=\"point best\"").count(),
        2 + 2,
        "points and legend"
    );
    assert_eq!(page.matches("<tr><td class=\"n\">").count(), 3);
    assert!(page.contains("no l of 9 &amp; more"));
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>\"]"));
    assert!(page.contains("among the best"));
    assert!(page.contains("m: missing"));
    let front = page.find("On the front").expect("a table");
    let others = page.find("The others").expect("a table");
    assert!(front < others);
}

#[test]
fn inside_a_page_signs_lead_to_rows_and_rows_go_on() {
    let ways = |setting: &Value| {
        let is_kept = setting["setting"] == 2;
        is_kept.then(|| ("/releases/\"x".to_owned(), "Look at it"))
    };
    let part = exploration_part(&exploration(), &ways);
    assert!(!part.contains("<html") && part.starts_with("<div class=\"cards\">"));
    for (number, signs) in [(1, 1), (2, 1), (3, 0)] {
        let way = format!("href=\"#setting-{number}\"");
        assert_eq!(part.matches(&way).count(), signs, "{part}");
        assert!(part.contains(&format!("<tr id=\"setting-{number}\">")));
    }
    assert_eq!(
        part.matches("<a href=\"/releases/&quot;x\">Look at it</a>")
            .count(),
        1
    );
    let file = exploration_page(&exploration(), &Value::Null);
    assert!(!file.contains("<a ") && file.contains("role=\"img\""));
}

#[test]
fn a_name_turns_no_text_around() {
    let page = exploration_page(&exploration(), &json!({"name": "a\u{202e}b\u{2066}"}));
    assert!(
        page.contains("Exploration of a\u{fffd}b\u{fffd}</h1>"),
        "{page}"
    );
}

#[test]
fn an_exploration_of_which_nothing_is_known_is_a_page() {
    let page = exploration_page(&Value::Null, &Value::Null);
    assert!(page.contains("No setting has both figures yet."));
    let mut odd = exploration();
    odd["settings"][0]["loss"] = json!(0.0);
    odd["settings"][1]["loss"] = json!(0.0);
    odd["settings"][1]["risk"] = json!(0.0);
    let page = exploration_page(&odd, &Value::Null);
    assert!(!page.contains("NaN") && !page.contains("\"inf") && !page.contains("inf,"));
}
