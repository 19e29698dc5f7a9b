//! The page, read back as text.

use serde_json::{Value, json};

use super::markup::{decimal, number, shortened};
use super::report_page;

fn full() -> (Value, Value, Value) {
    let bins = json!({"bins": [{"from": 5.0, "to": 5.0, "count": 3}, {"from": 6.0, "to": 6.0, "count": 0}]});
    let report = json!({"format": "vizard-report/1", "records": 3, "measures": {
        "group_sizes": {"title": "Group sizes", "audience": "analyst", "definition": "sizes",
            "source": "a paper", "value": {"min": 5, "histogram": bins}},
        "leakage": {"title": "Leakage", "audience": "steward", "definition": "d", "source": "s",
            "value": {"subjects": {"max": 0.2, "histogram": bins},
                "attributes": {"<b>pay</b>": {"mean": 0.1, "histogram": bins}}}},
        "correlation": {"title": "Correlation", "audience": "steward", "definition": "d", "source": "s",
            "value": {"pairs": [{"attributes": ["age", "sex"], "before": 0.5, "after": 0.25}]}},
        "marginals": {"title": "M", "audience": "steward", "definition": "d", "source": "s",
            "value": {"attributes": {"age": 0.5, "sex": 1.0}}}}});
    let verification = json!({"holds": true, "guarantees": [
        {"kind": "k_anonymity", "claimed": 5.0, "attained": 6.0, "holds": true},
        {"kind": "l_diversity", "attribute": "a&b", "claimed": 8.0, "attained": 7.0, "holds": false}],
        "structure": [], "attacks": []});
    let manifest = json!({"engine": "lgb", "records": 98729, "guarantees": [],
        "adversary": "knows <everything>", "not_protected": ["much", "more"],
        "tables": [{"name": "microdata", "rows": 3, "sha256": "ab", "columns": [{"name": "age"}]}]});
    (report, verification, manifest)
}

fn page() -> String {
    let (report, verification, manifest) = full();
    report_page(&report, &verification, &manifest, &Value::Null)
}

#[test]
fn texts_of_documents_never_become_markup() {
    let page = page();
    assert!(!page.contains("<b>pay"), "a name was not escaped");
    assert!(page.contains("&lt;b&gt;pay&lt;/b&gt;: histogram"));
    assert!(page.contains("knows &lt;everything&gt;"));
    assert!(page.contains("a&amp;b"));
}

#[test]
fn the_journalists_risk_stands_beside_the_prosecutors_and_says_what_it_is_compared_by() {
    let (mut report, verification, manifest) = full();
    let risk = json!({"max": 0.125, "mean": 0.05, "k_map": 8, "not_covered": 3,
        "attributes": ["<age>", "sex"], "people": 4_000, "sha256": "ab12"});
    report["measures"]["journalist_risk"] = json!({"title": "Journalist's risk",
        "audience": "steward", "definition": "d", "source": "s", "value": risk});
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    for said in [
        "largest journalist's risk",
        "Compared by &lt;age&gt;, sex with a population table of 4000 people.",
        "where 3 of the records stand",
        "ab12",
    ] {
        let said = said.replace('\'', "&#39;");
        let plain = said.replace("&#39;", "'");
        assert!(page.contains(&said) || page.contains(&plain), "{said}");
    }
    report["measures"]["journalist_risk"]["value"] = Value::Null;
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    assert!(!page.contains("largest journalist"), "a card of nothing");
}

#[test]
fn the_page_needs_nothing_from_outside_and_runs_nothing() {
    let page = page();
    for outside in [
        "http:",
        "https:",
        "//",
        "<script",
        "javascript",
        "@import",
        "url(",
        "src=",
        "href=",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn every_element_that_opens_closes() {
    let page = page();
    let empty = ["meta", "!doctype", "line"];
    let mut open: Vec<&str> = Vec::new();
    for piece in page.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap_or_default();
        let name = tag
            .split([' ', '/'])
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        match tag.strip_prefix('/') {
            Some(closing) => assert_eq!(open.pop(), Some(closing)),
            None if empty.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn figures_pictures_and_verdict_are_shown() {
    let page = page();
    for shown in [
        "✓ verified",
        "✗ does not hold",
        "98\u{202f}729 records published",
        "Compared with the original",
        "Source: a paper",
        "5: 3",
        "age × sex before: 0.5",
        "<li>much</li><li>more</li>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn an_attack_without_a_bound_is_never_called_good() {
    let check = |state: Option<&str>| {
        let mut entry = json!({"kind": "joint_knowledge", "attribute": "cost", "attained": 1.0,
            "holds": true, "figures": {"share_below_k": 0.9987}});
        if let Some(state) = state {
            entry["state"] = json!(state);
        }
        json!({"holds": true, "guarantees": [], "structure": [], "attacks": [entry]})
    };
    // Verifications of older versions have no states.
    for state in [Some("no_bound"), None] {
        let page = report_page(&Value::Null, &check(state), &Value::Null, &Value::Null);
        assert!(page.contains("no bound: look here"), "{state:?}");
        assert!(page.contains("share below k: 0.9987"), "{state:?}");
        assert!(page.contains("One attack has figures without a bound"));
        assert!(!page.contains("✓ holds"), "{state:?}");
    }
    let bounded = report_page(
        &Value::Null,
        &check(Some("holds")),
        &Value::Null,
        &Value::Null,
    );
    assert!(bounded.contains("✓ holds"));
}

#[test]
fn title_and_purpose_are_those_of_the_dataset() {
    let dataset = json!({"name": "admissions", "purpose": "Beds by ward"});
    let manifest = json!({"engine": "lgb", "input": {"dataset": "dataset_018f", "version": 3}});
    let page = report_page(&Value::Null, &Value::Null, &manifest, &dataset);
    assert!(page.contains("<title>Release of admissions</title>"));
    assert!(page.contains("<p>Beds by ward</p>"));
    assert!(!page.contains("dataset_018f"));
}

#[test]
fn attributes_published_exactly_are_shown_with_their_figures() {
    let manifest = json!({"published_exactly": {"attributes": [
        {"attribute": "ward", "role": "insensitive", "distinct": 9, "unique_share": 0.25}],
        "unique_share": 0.25, "unique_share_with_quasi_identifiers": 0.5}});
    let page = report_page(&Value::Null, &Value::Null, &manifest, &Value::Null);
    for shown in ["Published exactly", "ward", "25 %", "50 %"] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn what_was_changed_beforehand_is_said_of_each_attribute() {
    let manifest = json!({"transformed": [
        {"attribute": "<age>", "transform": {"top": 90, "bottom": 18}},
        {"attribute": "test", "transform": {"days_since": "birth"}},
        {"attribute": "admission", "transform": {"shift_days": 182}}]});
    let page = report_page(&Value::Null, &Value::Null, &manifest, &Value::Null);
    for shown in [
        "&lt;age&gt;: smaller numbers are shown as 18.",
        "&lt;age&gt;: larger numbers are shown as 90.",
        "test: dates are days since birth.",
        "admission: dates are moved by up to 182 days",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn what_is_not_there_is_not_shown() {
    let page = report_page(&Value::Null, &Value::Null, &Value::Null, &Value::Null);
    assert!(page.contains("Release report"));
    assert!(!page.contains("<section>"));
    let unverified = report_page(
        &Value::Null,
        &Value::Null,
        &json!({"unverified": true}),
        &Value::Null,
    );
    assert!(unverified.contains("not verified"));
}

#[test]
fn numbers_read_well() {
    let texts = [0.0, 0.2, 0.123_456, 12.0, 1234.5, 100.0, 0.000_01, -2000.0].map(decimal);
    assert_eq!(
        texts,
        [
            "0",
            "0.2",
            "0.1235",
            "12",
            "1\u{202f}235",
            "100",
            "1.00e-5",
            "−2\u{202f}000"
        ]
    );
    assert_eq!(number(&json!(1_234_567)), "1\u{202f}234\u{202f}567");
    assert_eq!(number(&Value::Null), "–");
    assert_eq!(shortened("abcdef", 4), "abc…");
}

#[test]
fn measures_of_persons_are_drawn_like_the_others() {
    let bins = json!({"bins": [{"from": 0.25, "to": 0.3, "count": 7}]});
    let share = json!({"pairs": 7, "mean": 0.25, "max": 0.28, "shares": bins});
    let loss = json!({"sum": 3.0, "mean": 0.125, "items": 24});
    let measure = |value: Value| json!({"title": "T", "audience": "analyst", "definition": "d", "source": "s", "value": value});
    let report = json!({"measures": {
        "qid_ncp": measure(json!({"sum": 1.5, "mean": 0.75, "attributes": {"age": {"sum": 1.5, "mean": 0.75}}})),
        "qid_ncp_published": measure(json!({"mean": 0.8125})),
        "sa_ncp": measure(json!({"sum": 3.0, "mean": 0.125, "items": 24, "attributes": {"ill": loss}})),
        "fingerprints": measure(json!({"min": 11, "persons": bins, "items": bins})),
        "value_shares": measure(json!({"max": 0.28, "values": {"ill": share}, "nodes": {"ill": share}}))}});
    let page = report_page(&report, &Value::Null, &Value::Null, &Value::Null);
    for shown in [
        "<b>0.75</b><span>mean loss of a quasi-identifier (QID-NCP)</span>",
        "<b>0.125</b><span>mean loss of an item (SA-NCP)</span>",
        "<b>11</b><span>persons with the rarest fingerprint</span>",
        "<b>0.28</b><span>largest share of one value in a group</span>",
        "<h4>values</h4>",
        "<h4>nodes</h4>",
        "ill: shares",
        "mean by attribute",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    // The card of the published scale stands in where the other is not shown.
    assert!(!page.contains("<b>0.8125</b>"));
}

fn page_of_measure(name: &str, value: Value) -> String {
    let measure = json!({"title": "T", "audience": "steward", "definition": "d", "source": "s", "value": value});
    let report = json!({"measures": {name: measure}});
    report_page(&report, &Value::Null, &Value::Null, &Value::Null)
}

#[test]
fn correlation_lost_is_said_in_words_worst_first() {
    let pair = |one: &str, before: f64, after: f64| json!({"attributes": [one, "cost"], "before": before, "after": after});
    let page = page_of_measure(
        "correlation",
        json!({"pairs": [pair("age", 0.5, 0.5), pair("sex", 0.2, 0.01), pair("ward", 0.001, 0.0)]}),
    );
    let lost = page.find("<li>sex and cost: their relation is lost (φ² 0.2 in the original, 0.01");
    let kept = page.find("<li>age and cost: their relation is kept (");
    assert!(lost.is_some() && lost < kept, "{lost:?} {kept:?}");
    assert!(!page.contains("<li>ward"), "nothing was there to lose");
}

#[test]
fn errors_of_group_means_are_sentences_that_read_true() {
    let pair = |by: &str, kept: f64| json!({"of": "cost", "by": by, "error": 0.25, "kept": kept});
    let page = page_of_measure(
        "group_means",
        json!({"attributes": {"cost": [pair("age", 0.494), pair("ward", -0.15), pair("sex", 9.3)]}}),
    );
    for shown in [
        "Mean of cost by age: off by 0.25 standard deviations of cost; differences between groups are shown at 49 % of their size.",
        "Mean of cost by ward: off by 0.25 standard deviations of cost; differences between groups point the other way.",
        "differences between groups are shown larger than they are.",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn pairing_is_said_beside_chance_where_there_is_one() {
    let figures = |share: f64, chance: f64| json!({"pairing": {"share": share, "chance": chance}});
    let page = page_of_measure(
        "bucket_range",
        json!({"attributes": {"ill": figures(0.6591, 0.25), "sex": figures(0.0, 0.0)}}),
    );
    assert!(page.contains(
        "ill: of the two values that share buckets most, one is in 66 % of the buckets of the other; it is in 25 % of all buckets."
    ));
    assert!(!page.contains("sex: of the two values"));
}

#[test]
fn known_to_within_is_in_days_for_a_date_alone() {
    let attack = |attribute: &str| {
        json!({"kind": "joint_knowledge", "attribute": attribute,
        "figures": {"known_to_within": 3.0, "known_to_within_median": 9.0}})
    };
    let verification = json!({"guarantees": [{"kind": "k_anonymity", "holds": true}],
        "attacks": [attack("admitted"), attack("cost")]});
    let manifest = json!({"tables": [{"name": "microdata", "columns": [
        {"name": "admitted", "type": "date"}, {"name": "cost", "type": "number"}]}]});
    let page = report_page(&Value::Null, &verification, &manifest, &Value::Null);
    assert!(page.contains(
        "to within 3 days where values lie nearest, and within 9 days in the middle one."
    ));
    assert!(page.contains("to within 3 where values lie nearest, and within 9 in the middle one."));
}

#[test]
fn a_mean_stands_beside_the_median_error_of_a_count() {
    let error = json!({"relative_error": {"mean": 0.27, "median": 0.06}});
    let page = page_of_measure("query_error", error);
    assert!(page.contains("<b>0.27</b><span>mean error of a count</span>"));
    assert!(page.contains("<b>0.06</b><span>median error of a count</span>"));
}

#[test]
fn known_to_within_is_in_days_for_a_date_in_buckets_alone() {
    let verification = json!({"guarantees": [{"kind": "l_diversity", "holds": true}],
        "attacks": [{"kind": "similarity", "attribute": "admitted", "figures": {"known_to_within": 3.0}}]});
    let manifest = json!({"tables": [{"name": "buckets", "columns": [
        {"name": "value", "types": {"admitted": "date", "cost": "number"}}]}]});
    let page = report_page(&Value::Null, &verification, &manifest, &Value::Null);
    assert!(page.contains("to within 3 days where values lie nearest."));
}

#[test]
fn of_many_group_means_the_worst_are_said_whichever_attribute_they_are_of() {
    let pairs = |of: &str, from: usize| -> Vec<Value> {
        let errors = (0..6).map(|at| (at + from) as f64 / 10.0);
        let pair = |error| json!({"of": of, "by": "ward", "error": error, "kept": 0.5});
        errors.map(pair).collect()
    };
    let (mut report, verification, manifest) = full();
    report["measures"]["group_means"] = json!({"title": "G", "audience": "steward",
        "definition": "d", "source": "s",
        "value": {"attributes": {"cost": pairs("cost", 0), "stay": pairs("stay", 4)}}});
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    assert_eq!(page.matches("Mean of stay by ward").count(), 6);
    assert_eq!(page.matches("Mean of cost by ward").count(), 2);
    assert!(page.contains("4 more pairs are off by less"));
}

#[test]
fn what_a_series_keeps_and_what_a_model_guesses_stand_at_the_top() {
    let (report, mut verification, mut manifest) = full();
    let page = |verification: &Value, manifest: &Value| {
        let page = report_page(&report, verification, manifest, &Value::Null);
        let (top, _) = page.split_once("</header>").expect("a header");
        top.to_owned()
    };
    let learned = |lift: f64| {
        json!([{"kind": "inference", "attribute": "illness", "attained": 0.5, "holds": true,
            "figures": {"lift": lift, "population": 0.32, "one_in_l": 0.25}}])
    };
    let kept = |counterfeits: u64| {
        json!({"waiting": 20, "attributes": [{"attribute": "illness", "values": 1000,
            "counterfeits": counterfeits, "outdated": 10}]})
    };
    verification["attacks"] = learned(1.5);
    manifest["kept"] = kept(50);
    let top = page(&verification, &manifest);
    assert!(!top.contains("a model learned"), "{top}");
    let all = number(&json!(1000));
    let said = format!("50 of {all} published values are counterfeits (5.0 %), 10 rows");
    assert!(top.contains(&said), "{top}");
    assert!(!top.contains("! illness keeps"), "{top}");
    assert!(top.contains("20 new subjects wait"));
    verification["attacks"] = learned(1.56);
    manifest["kept"] = kept(51);
    let top = page(&verification, &manifest);
    assert!(
        top.contains(
            "! illness: a model learned from this release alone guesses the value of 50 %"
        )
    );
    assert!(top.contains("! illness keeps"), "{top}");
    assert!(!top.contains("show another set"), "{top}");
    manifest["kept"]["attributes"][0]["renewed"] = json!(7);
    let top = page(&verification, &manifest);
    assert!(top.contains("7 rows show another set because their value changed"));
    manifest["kept"] = json!({"waiting": 0, "joins_groups": true});
    let top = page(&verification, &manifest);
    assert!(top.contains("joined to larger ones"), "{top}");
}

#[test]
fn what_running_the_engine_again_tells_stands_at_the_top() {
    let (report, mut verification, manifest) = full();
    let mut top = |told: u64| {
        verification["attacks"] = json!([{"kind": "minimality", "attribute": "illness",
            "attained": 0.4, "holds": true, "figures": {"counting": 0.36, "people": 80,
            "told": told, "largest_gain": 0.2, "reruns": 200}}]);
        let page = report_page(&report, &verification, &manifest, &Value::Null);
        let (top, _) = page.split_once("</header>").expect("a header");
        top.to_owned()
    };
    assert!(!top(0).contains("running the engine again"));
    let said = "! illness: of 80 people it was tried for, running the engine again on tables that \
                fit makes a value of 3 likelier than the counts of their group say, by 20 percentage \
                points at most.";
    let top = top(3);
    assert!(top.contains(said), "{top}");
}

#[test]
fn what_other_public_releases_tell_stands_at_the_top() {
    let (report, mut verification, manifest) = full();
    let mut top = |certain: u64, attributable: u64| {
        verification["attacks"] = json!([
            {"kind": "composition", "attribute": "illness", "attained": 0.1, "holds": true,
             "figures": {"certain": certain, "shared_subjects": 900}},
            {"kind": "difference", "attribute": "illness", "attained": attributable,
             "holds": true, "figures": {"certain": 10, "left": 30, "came": 0}}]);
        let page = report_page(&report, &verification, &manifest, &Value::Null);
        let (top, _) = page.split_once("</header>").expect("a header");
        top.to_owned()
    };
    let nothing = top(0, 0);
    assert!(!nothing.contains("together with earlier") && !nothing.contains("the difference from"));
    let said = top(90, 20);
    for sentence in [
        "! illness: together with earlier public releases this one makes the value certain of up to \
         90 of up to 900 people who are in it and in one of them.",
        "! illness: the difference from the latest public release tells more than either release \
         of up to 20 people who left or came; of up to 10 of them the value is certain.",
    ] {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn attacks_of_one_kind_stand_together_and_are_explained_once() {
    let (report, mut verification, manifest) = full();
    let attack = |kind: &str, attribute: &str| json!({"kind": kind, "attribute": attribute, "attained": 0.4, "holds": true});
    verification["attacks"] = json!([
        attack("skewness", "illness"),
        attack("inference", "illness"),
        attack("skewness", "wage"),
        attack("inference", "wage"),
    ]);
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    assert!(page.contains("! 2 attacks have figures without a bound: look at them below."));
    assert_eq!(page.matches("learns from the release").count(), 1);
    let (_, table) = page
        .split_once("Attacks that were tried")
        .expect("a section");
    let kinds: Vec<usize> = ["skewness", "inference"]
        .map(|kind| table.matches(&format!("<td>{kind}")).count())
        .into();
    assert_eq!(kinds, [2, 2]);
    let first_inference = table.find("<td>inference").expect("a row");
    assert!(table.rfind("<td>skewness").expect("a row") < first_inference);
}

#[test]
fn a_release_of_an_exploration_is_marked_in_its_picture() {
    let (report, verification, mut manifest) = full();
    let setting = |number: u64, loss: f64| {
        json!({"setting": number, "engine": "lgb", "parameters": {},
        "state": "succeeded", "loss": loss, "risk": 0.1})
    };
    manifest["explored"] = json!({"setting": 2, "exploration": {
        "id": "exploration_7\"", "loss": "ncp", "risk": "leakage_mean", "front": [1, 2],
        "settings": [setting(1, 0.2), setting(2, 0.4)]}});
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    assert_eq!(page.matches("class=\"own\"").count(), 1);
    assert!(page.contains("The ring is around this release."));
    assert!(page.contains("href=\"/explorations/exploration_7&quot;\""));
    // One that has no figures is in no picture, and none is drawn of nothing.
    manifest["explored"]["setting"] = json!(3);
    let page = report_page(&report, &verification, &manifest, &Value::Null);
    assert!(page.contains("Loss against risk") && !page.contains("class=\"own\""));
    assert!(!self::page().contains("Loss against risk"));
}
