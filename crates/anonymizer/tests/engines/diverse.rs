//! Diversity that a reader would call so: spellings of one value count once,
//! a missing value counts for none, numbers lie apart, and no two values stand
//! together again and again. Read off by record and by what the file says, not
//! through the verifier.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::privacy::{CancelFlag, Requirements, Seed, Spread};
use vizard_anonymizer::release::Release;
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::verify::{Check, composition, series};

use super::case::Case;
use super::naive::release::column;
use super::tables::table;

/// Ill people: the diagnosis as a hospital's system writes it, and the cost.
struct Ill {
    text: String,
    diagnoses: Vec<String>,
    costs: Vec<i64>,
}

impl Ill {
    fn new(
        people: usize,
        diagnosis: impl Fn(usize) -> String,
        cost: impl Fn(usize) -> i64,
    ) -> Self {
        let mut ill = Self {
            text: String::from("id,age,ill,cost\n"),
            diagnoses: (0..people).map(diagnosis).collect(),
            costs: (0..people).map(cost).collect(),
        };
        for at in 0..people {
            let (age, cost) = (20 + at * 7 % 60, ill.costs[at]);
            let line = format!("p{at},{age},\"{}\",{cost}", ill.diagnoses[at]);
            writeln!(ill.text, "{line}").expect("a String");
        }
        ill
    }

    fn schema(&self, (ill, cost): (&str, &str)) -> Value {
        json!({
            "name": "ill", "subject_key": "id", "missing": "category",
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "ill", "role": ill, "type": "categorical"},
                {"name": "cost", "role": cost, "type": "integer"},
            ],
        })
    }

    fn publish(
        &self,
        (engine, parameters): (&str, Value),
        schema: (&str, &str),
    ) -> Result<(Case, Release), EngineError> {
        let table = table(self.schema(schema), &[], &self.text);
        let parsed = Engine::parse(engine, &parameters, table.schema()).expect("they fit");
        let policy = parsed.policy(table.schema()).expect("they fit the schema");
        let requirements = Requirements::new(&table, policy, &[]);
        let release = parsed.run(&table, &requirements, &RunContext::silent(0))?;
        let both = (table, requirements);
        let case =
            Case::made_by(engine, both, parsed.parameters().clone(), release.clone()).drawn_by(0);
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{engine}: {failed:#?}");
        Ok((case, release))
    }
}

/// Records of each bucket, block or group of a release.
fn together(release: &Release, name: &str) -> Vec<Vec<usize>> {
    let table = &release.tables[0];
    let subjects = release.lineage.of(&table.name).expect("rows have subjects");
    let mut sets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, subject) in column(table, name).into_iter().zip(subjects) {
        sets.entry(number).or_default().push(subject.0 as usize);
    }
    sets.into_values().collect()
}

const SPELLINGS: [&str; 12] = [
    "N39.0",
    "N390",
    "n39.0",
    "I21.9",
    "I219",
    "i219",
    "NULL",
    "NA",
    "E11.5",
    "e115",
    "(missing)",
    "J18.9",
];

/// What a diagnosis is, said by hand.
fn means(spelling: &str) -> Option<&'static str> {
    match spelling {
        "N39.0" | "N390" | "n39.0" => Some("urinary"),
        "I21.9" | "I219" | "i219" => Some("infarct"),
        "E11.5" | "e115" => Some("diabetes"),
        "J18.9" => Some("pneumonia"),
        _ => None,
    }
}

#[test]
fn spellings_of_one_diagnosis_count_once_and_missing_ones_for_none() {
    let ill = Ill::new(
        480,
        |at| SPELLINGS[at % 12].to_owned(),
        |at| (at % 5) as i64,
    );
    let jobs = [
        ("lgb", json!({"k": 2, "l": 2}), "ill_bucket"),
        ("anatomy", json!({"l": 2}), "block"),
        ("aip", json!({"l": 2}), "block"),
        ("mondrian", json!({"k": 4, "l": 2}), "group"),
    ];
    for (engine, parameters, name) in jobs {
        let roles = ("sensitive", "insensitive");
        let (_, release) = ill.publish((engine, parameters), roles).expect(engine);
        for records in together(&release, name) {
            let known = records.iter().filter_map(|&at| means(&ill.diagnoses[at]));
            let known: Vec<&str> = known.collect();
            let distinct: BTreeSet<&&str> = known.iter().collect();
            assert!(
                known.is_empty() || distinct.len() >= 2,
                "{engine}: {known:?}"
            );
        }
    }
}

#[test]
fn an_l_beyond_the_real_diagnoses_is_refused_though_there_are_more_spellings() {
    let ill = Ill::new(
        480,
        |at| SPELLINGS[at % 12].to_owned(),
        |at| (at % 5) as i64,
    );
    for (engine, parameters) in [
        ("lgb", json!({"k": 2, "l": 5})),
        ("anatomy", json!({"l": 5})),
        ("mondrian", json!({"k": 2, "l": 5})),
    ] {
        let refused = ill.publish((engine, parameters), ("sensitive", "insensitive"));
        let Err(EngineError::Infeasible(answer)) = refused else {
            panic!("{engine}: four diagnoses are not five");
        };
        assert_eq!(answer.parameter, "l", "{engine}");
    }
}

/// Three costs in cents of each other, over and over: different, and yet near.
#[test]
fn sensitive_numbers_that_share_a_bucket_lie_apart_unless_it_is_switched_off() {
    let ill = Ill::new(
        600,
        |at| format!("d{}", at % 9),
        |at| (1_000 * (at / 6 % 10) + at % 6) as i64,
    );
    let by_attribute = |own: Value| json!({"k": 3, "l": 3, "attributes": {"cost": own}});
    let by_name = |own: Value, mut parameters: Value| {
        parameters["l"] = json!(3);
        if let Some(least) = own.get("min_spread") {
            parameters["min_spread"]["cost"] = least.clone();
        }
        parameters
    };
    type Asked<'a> = &'a dyn Fn(Value) -> Value;
    let generalized = |own| by_name(own, json!({"publish": "generalization"}));
    let of_arp = |own| by_name(own, json!({}));
    let arp_sliced = |own| by_name(own, json!({"publish": "slicing"}));
    let sliced = |own| by_name(own, json!({"columns": [["age", "ill"], ["cost"]]}));
    let engines: [(&str, &str, Asked); 8] = [
        ("lgb", "cost_bucket", &by_attribute),
        ("mondrian", "group", &by_attribute),
        ("anatomy", "block", &of_arp),
        ("aip", "block", &of_arp),
        ("arp", "block", &of_arp),
        ("arp", "group", &generalized),
        ("arp", "bucket", &arp_sliced),
        ("slicing", "bucket", &sliced),
    ];
    for (engine, name, parameters) in engines {
        let publish = |own: Value| {
            let parameters = parameters(own);
            let roles = ("quasi_identifier", "sensitive");
            let (case, release) = ill.publish((engine, parameters), roles).expect(engine);
            let spans = together(&release, name).into_iter().map(|records| {
                let costs = records.iter().map(|&at| ill.costs[at]);
                costs.clone().max().unwrap_or(0) - costs.min().unwrap_or(0)
            });
            let least = spans.min().expect("there are some");
            (case, least)
        };
        let what = format!("{engine} by {name}");
        // 5th to 95th of a hundred: 0 … 9,005; a tenth of that.
        let (case, least) = publish(json!({}));
        let claimed = spread_of(&case).expect("it is claimed");
        assert!(claimed.holds && least >= 900, "{what}: {least}");
        assert_eq!(claimed.attained, Some(least as f64), "{what}");
        let (mut case, near) = publish(json!({"min_spread": 0}));
        assert!(spread_of(&case).is_none(), "{what}");
        if ["lgb", "anatomy"].contains(&engine) {
            assert!(near < 10, "near values share a {name} of {engine}: {near}");
        }
        // Blocks of `aip` have twelve records, which lie apart by themselves.
        assert!(near < 7_000 || engine == "aip", "{what}: {near}");
        let (_, wide) = publish(json!({"min_spread": 7_000}));
        assert!(wide >= 7_000, "{what}: {wide}");
        // The check finds what the engine did not do.
        let mut policy = case.requirements.policy().clone();
        let least = Spread::AtLeast(near as f64 + 0.5);
        policy
            .model
            .change_spreads(|_, min_spread| *min_spread = least);
        case.requirements = Requirements::new(&case.table, policy, &[]);
        let found = spread_of(&case).expect("it is looked at");
        assert!(!found.holds, "{what}");
        assert_eq!(found.attained, Some(near as f64), "{what}");
    }
}

fn spread_of(case: &Case) -> Option<Check> {
    let verdict = case.verdict();
    let mut checks = verdict.checks.into_iter();
    checks.find(|check| check.kind == "min_spread")
}

/// The largest share of one value's buckets that another is in.
fn most_together(sets: &[Vec<usize>], value: impl Fn(usize) -> usize, values: usize) -> f64 {
    let mut own = vec![0.0; values];
    let mut both = vec![vec![0.0_f64; values]; values];
    for records in sets {
        let held: BTreeSet<usize> = records.iter().map(|&at| value(at)).collect();
        for &one in &held {
            own[one] += 1.0;
            for &other in held.iter().filter(|&&other| other != one) {
                both[one][other] += 1.0;
            }
        }
    }
    let shares = both.iter().zip(&own);
    let shares = shares.flat_map(|(both, own)| both.iter().map(move |count| count / own));
    shares.fold(0.0, f64::max)
}

/// Twenty diagnoses of forty people each: chance brings another one into
/// l − 1 of 19 buckets. Frequencies alone pair always the same ones.
#[test]
fn no_two_values_stand_together_again_and_again() {
    let value = |at: usize| at % 20;
    let ill = Ill::new(800, |at| format!("d{:02}", value(at)), |_| 1);
    for (engine, parameters, name) in [
        ("lgb", json!({"k": 2, "l": 2}), "ill_bucket"),
        ("anatomy", json!({"l": 2}), "block"),
    ] {
        let roles = ("sensitive", "insensitive");
        let (case, release) = ill.publish((engine, parameters), roles).expect(engine);
        let most = most_together(&together(&release, name), value, 20);
        assert!(most < 0.4, "{engine}: {most}");
        let report = case.report().expect("the release fits its originals");
        let ranges = report.value("bucket_range").expect("it is measured");
        let pairing = &ranges["attributes"]["ill"]["pairing"];
        let said = pairing["share"].as_f64().expect("values are frequent");
        assert!((said - most).abs() < 1e-9, "{engine}: {said} {most}");
        let chance = pairing["chance"].as_f64().expect("beside it");
        assert!((chance - 0.1).abs() < 0.02, "{engine}: {chance}");
    }
}

/// Cost follows the diagnosis; buckets of two diagnoses halve what is seen.
#[test]
fn the_report_says_how_far_the_means_of_groups_are_off() {
    let ill = Ill::new(
        400,
        |at| format!("d{}", at % 4),
        |at| 1_000 * (at % 4) as i64,
    );
    let job = ("anatomy", json!({"l": 2}));
    let (case, _) = ill
        .publish(job, ("sensitive", "insensitive"))
        .expect("feasible");
    let report = case.report().expect("the release fits its originals");
    let means = report.value("group_means").expect("it is measured");
    let pair = &means["attributes"]["ill"][0];
    assert_eq!((&pair["of"], &pair["by"]), (&json!("cost"), &json!("ill")));
    let (kept, error) = (
        pair["kept"].as_f64().unwrap(),
        pair["error"].as_f64().unwrap(),
    );
    // The other diagnosis of a bucket is any of three, so a third of what is
    // between them and the mean is on the other side: (1 − 1/3) / 2.
    assert!((kept - 1.0 / 3.0).abs() < 0.1, "{kept}");
    assert!(error > 0.4, "{error}");
}

/// Which spelling is the most frequent differs between the two versions.
#[test]
fn releases_are_compared_by_value_whatever_its_spelling() {
    let of = |most: usize| {
        let spelling = |at: usize| ["N39.0", "N390", "n39.0"][(at % 7 / 4 + most) % 3].to_owned();
        let diagnosis = move |at: usize| match at % 2 {
            0 => spelling(at),
            _ => "I21.9".to_owned(),
        };
        let ill = Ill::new(200, diagnosis, |_| 1);
        let job = ("anatomy", json!({"l": 2}));
        let (case, release) = ill
            .publish(job, ("sensitive", "insensitive"))
            .expect("feasible");
        Candidates::of(
            &case.table,
            &case.requirements,
            &case.tables,
            &release.lineage,
        )
    };
    let (one, other) = (of(0), of(1));
    assert_eq!(one.attributes[0].values, other.attributes[0].values);
    let found = composition(&one, &[&other], CancelFlag::never());
    assert_eq!((found.shared, found.attributes[0].below_l), (200, 0));
}

/// The dataset's secret decides which values stand together, so that a second
/// release of the same people tells nothing new; other secrets would.
#[test]
fn a_second_release_of_the_same_people_tells_nothing_new() {
    let value = |at: usize| at * 7 % 20;
    let ill = Ill::new(400, |at| format!("d{:02}", value(at)), |_| 1);
    let (schema, records) = (ill.schema(("sensitive", "insensitive")), &ill.text);
    let table = table(schema, &[], records);
    for (name, parameters) in [
        ("anatomy", json!({"l": 3})),
        ("arp", json!({"l": 3})),
        ("lgb", json!({"k": 2, "l": 3})),
    ] {
        let engine = Engine::parse(name, &parameters, table.schema()).expect("they fit");
        let policy = engine.policy(table.schema()).expect("they fit the schema");
        let requirements = Requirements::new(&table, policy, &[]);
        let shown = |seed: u64, secret: u64| {
            let context = RunContext {
                dataset_secret: Seed::of_number(secret),
                ..RunContext::silent(seed)
            };
            let release = engine.run(&table, &requirements, &context).expect(name);
            Candidates::of(&table, &requirements, &release.tables, &release.lineage)
        };
        let first = shown(1, 0);
        let below_l = |other: &Candidates| {
            let found = composition(&first, &[other], CancelFlag::never());
            (found.shared, found.attributes[0].below_l)
        };
        let (same, apart) = (shown(2, 0), shown(2, 9));
        assert_eq!(below_l(&same), (400, 0), "{name}");
        assert!(below_l(&apart).1 > 200, "{name}: the attack works");
        let is_safe = |other: &Candidates| series(&first, &[other]).is_safe();
        assert_eq!((is_safe(&same), is_safe(&apart)), (true, false), "{name}");
    }
}
