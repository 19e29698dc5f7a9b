//! A release of five persons whose figures can be worked out on paper.

use std::io::Cursor;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::microdata::{
    AttributeIndex, AttributeType, HierarchyFormat, HierarchySet, HierarchySource, Preference,
    ReadLimits, RecordFormat, Schema, SubjectIndex, SubjectKeys, Table, TableBuilder, Target,
    read_records,
};
use crate::privacy::{K, L, Model, Policy, QidConflict, Requirements};
use crate::release::{
    Cell, Cells, Content, InputDescription, Lineage, MadeBy, Manifest, PublishedColumn,
    PublishedExactly, PublishedTable, TableLineage,
};
use crate::utility::{Evidence, UtilityReport, measure, public_part};

const TREE: &str = "a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\nb3;B;*\n";

/// F is not published; their age widens the range to 50.
const RECORDS: &str = "\
id,age,sex,ill,drug
A,20,F,a1,p
A,20,F,b1,p
B,30,F,a2,p
C,25,F,a1,q
B,30,F,a2,q
D,40,M,a1,r
E,60,M,b2,s
E,60,M,b3,s
F,70,M,b1,p
";

/// Rows in another order than the subjects.
const PUBLISHED: [(u64, &str, &str, &str, &str); 5] = [
    (1, "20..30", "F", "A", "*"),
    (2, "40..60", "{F|M}", "a1", "*"),
    (1, "20..30", "F", "A|b1", "p"),
    (2, "40..60", "{F|M}", "{b2|b3}", "{r|s}"),
    (1, "20..30", "F", "A", "*"),
];
const SUBJECTS: [u32; 5] = [1, 3, 0, 4, 2];

fn schema() -> Schema {
    serde_json::from_value(json!({
        "name": "visits", "subject_key": "id", "multiplicity": "many", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "ill", "role": "sensitive", "type": "categorical", "hierarchy": "ill"},
            {"name": "drug", "role": "sensitive", "type": "categorical"}]}))
    .unwrap()
}

fn table() -> Table {
    let schema = schema();
    let mut hierarchies = HierarchySet::new();
    let tree = HierarchySource::read(TREE.as_bytes(), HierarchyFormat::Csv).unwrap();
    hierarchies.insert("ill".into(), tree);
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).unwrap();
    let mut spill = Vec::new();
    read_records(
        Cursor::new(RECORDS),
        RecordFormat::Csv,
        &target,
        &mut SubjectKeys::new([7; 16], &mut spill),
        &mut |chunk| builder.push(chunk),
    )
    .unwrap();
    builder.finish().unwrap()
}

fn requirements(table: &Table, model: Model) -> Requirements {
    let policy = Policy {
        model,
        k: K::NONE,
        apply_preferences: true,
    };
    let asked: Preference =
        serde_json::from_value(json!({"subject": "D", "max_leakage": {"drug": 0.5}})).unwrap();
    Requirements::new(table, policy, &[asked])
}

fn sensitive() -> Vec<AttributeIndex> {
    schema().protectable()
}

fn fingerprints() -> Model {
    Model::Fingerprints {
        l: sensitive()
            .into_iter()
            .map(|index| (index, L::NONE))
            .collect(),
        k_group: K::NONE,
        value_l: L::new(1).unwrap(),
        qid_conflict: QidConflict::Reject,
    }
}

fn dictionary(
    name: &str,
    content: Content,
    kind: AttributeType,
    texts: [&str; 5],
) -> PublishedColumn {
    let mut cells: Vec<Cell> = Vec::new();
    let codes = texts.map(|text| {
        let cell = Cell::parse(text, content, Some(kind)).unwrap();
        let known = cells.iter().position(|known| *known == cell);
        known.unwrap_or_else(|| {
            cells.push(cell);
            cells.len() - 1
        }) as u32
    });
    PublishedColumn {
        name: name.into(),
        content,
        kind: Some(kind),
        cells: Cells::Dictionary {
            codes: codes.to_vec().into(),
            cells,
        },
    }
}

fn published() -> PublishedTable {
    use AttributeType::{Categorical, Integer};
    use Content::{Fingerprint, Generalized};
    PublishedTable {
        name: "persons".into(),
        columns: vec![
            PublishedColumn {
                name: "group".into(),
                content: Content::Group,
                kind: None,
                cells: Cells::Numbers(PUBLISHED.map(|row| row.0).to_vec()),
            },
            dictionary("age", Generalized, Integer, PUBLISHED.map(|row| row.1)),
            dictionary("sex", Generalized, Categorical, PUBLISHED.map(|row| row.2)),
            dictionary("ill", Fingerprint, Categorical, PUBLISHED.map(|row| row.3)),
            dictionary("drug", Fingerprint, Categorical, PUBLISHED.map(|row| row.4)),
        ],
    }
}

fn manifest() -> Manifest {
    Manifest {
        format: Manifest::FORMAT.into(),
        engine: "one_to_many".into(),
        parameters: json!({}),
        records: 5,
        excluded: 1,
        suppressed: 0,
        normalized: Vec::new(),
        transformed: Vec::new(),
        guarantees: Vec::new(),
        adversary: String::new(),
        not_protected: Vec::new(),
        published_exactly: PublishedExactly::default(),
        accept_exact: Vec::new(),
        kept: None,
        parts: None,
        tables: Vec::new(),
        input: InputDescription {
            dataset: "made-up".into(),
            version: 1,
            series: None,
        },
        made_by: MadeBy {
            vizard: "0.1.0".into(),
        },
        unverified: false,
        reproducible_seed: false,
    }
}

fn measured(model: Model, tables: &[PublishedTable], subjects: &[u32]) -> Option<UtilityReport> {
    let table = table();
    let evidence = Evidence {
        table: &table,
        requirements: &requirements(&table, model),
        manifest: &manifest(),
        tables,
        lineage: &Lineage {
            tables: vec![TableLineage {
                table: "persons".into(),
                subjects: subjects.iter().map(|&at| SubjectIndex(at)).collect(),
            }],
        },
        population_table: None,
        cancel: crate::privacy::CancelFlag::never(),
    };
    measure(&evidence).ok()
}

fn report() -> UtilityReport {
    measured(fingerprints(), &[published()], &SUBJECTS).unwrap()
}

fn assert_figures(report: &UtilityReport, expected: &[(&str, f64)]) {
    for &(path, expected) in expected {
        let (measure, rest) = path.split_once('/').unwrap();
        let found = report
            .value(measure)
            .and_then(|value| value.pointer(&format!("/{rest}")));
        let found = found
            .and_then(Value::as_f64)
            .unwrap_or_else(|| panic!("{path} is there"));
        assert!(
            (found - expected).abs() < 1e-12,
            "{path}: {found}, not {expected}"
        );
    }
}

/// Bars that are not empty.
fn bars(report: &UtilityReport, measure: &str, path: &str) -> Vec<(f64, u64)> {
    let bins = report.value(measure).unwrap().pointer(path).unwrap()["bins"].clone();
    let bins = bins.as_array().unwrap().iter();
    bins.map(|bin| {
        (
            bin["from"].as_f64().unwrap(),
            bin["count"].as_u64().unwrap(),
        )
    })
    .filter(|&(_, count)| count > 0)
    .collect()
}

#[test]
fn groups_are_persons_who_look_the_same() {
    assert_figures(
        &report(),
        &[
            ("c_dm/c_dm", 13.0),
            ("group_sizes/groups", 2.0),
            ("reidentification_risk/prosecutor_max", 0.5),
            ("reidentification_risk/marketer", 0.4),
        ],
    );
}

#[test]
fn losses_are_those_worked_out_on_paper() {
    // Ages: 3 × 10/50 + 2 × 20/50; sexes: 2 × 2/2. Published ages span 40.
    assert_figures(
        &report(),
        &[
            ("qid_ncp/attributes/age/mean", 1.4 / 5.0),
            ("qid_ncp/attributes/sex/mean", 2.0 / 5.0),
            ("qid_ncp/mean", 3.4 / 10.0),
            (
                "qid_ncp_published/mean",
                (3.0 * 0.25 + 2.0 * 0.5 + 2.0) / 10.0,
            ),
            // A, b1: 2/5 + 0; B, C: 2/5 each; D: 0; E: {b2|b3} twice 2/5.
            ("sa_ncp/attributes/ill/sum", 2.0),
            ("sa_ncp/attributes/ill/items", 7.0),
            // A: 0; B: p, q masked; C, D masked; E: {r|s} of four values.
            ("sa_ncp/attributes/drug/sum", 4.5),
            ("sa_ncp/attributes/drug/mean", 0.75),
            ("sa_ncp/mean", 0.5),
        ],
    );
}

#[test]
fn fingerprints_are_counted_over_all_sensitive_attributes() {
    let report = report();
    assert_figures(
        &report,
        &[
            ("fingerprints/fingerprints", 4.0),
            ("fingerprints/mean", 1.25),
            ("fingerprints/max", 2.0),
            ("fingerprints/largest_share", 0.4),
            ("fingerprints/mean_items", 2.2),
            // C {a1, q} and D {a1, r} differ by their drug.
            ("fingerprints_original/fingerprints", 5.0),
            ("fingerprints_original/mean_items", 2.6),
        ],
    );
    assert_eq!(
        bars(&report, "fingerprints", "/persons"),
        [(1.0, 3), (2.0, 1)]
    );
    assert_eq!(
        bars(&report, "fingerprints", "/items"),
        [(2.0, 4), (3.0, 1)]
    );
    let originals = bars(&report, "fingerprints_original", "/items");
    assert_eq!(originals, [(2.0, 2), (3.0, 3)]);
}

#[test]
fn values_and_nodes_have_their_shares_of_each_group() {
    let report = report();
    assert_figures(
        &report,
        &[
            // b1 of one in three; a1 of one in two.
            ("value_shares/values/ill/pairs", 2.0),
            ("value_shares/values/ill/max", 0.5),
            ("value_shares/values/ill/mean", 5.0 / 12.0),
            // A 1, B 1/3, b1 1/3; A 1/2, a1 1/2, B (the union's) 1/2.
            ("value_shares/nodes/ill/pairs", 6.0),
            ("value_shares/nodes/ill/max", 1.0),
            ("value_shares/nodes/ill/mean", (1.0 + 2.0 / 3.0 + 1.5) / 6.0),
            ("value_shares/values/drug/pairs", 1.0),
            ("value_shares/nodes/drug/max", 1.0 / 3.0),
            ("value_shares/max", 0.5),
        ],
    );
    let shares = bars(&report, "value_shares", "/values/ill/shares");
    assert_eq!(shares, [(0.3, 1), (0.5, 1)]);
}

#[test]
fn leakage_is_the_share_of_the_own_fingerprint_beside_the_own_limit() {
    assert_figures(
        &report(),
        &[
            (
                "leakage/subjects/mean",
                (1.0 / 3.0 + 2.0 * 2.0 / 3.0 + 1.0) / 5.0,
            ),
            ("leakage/subjects/max", 2.0 / 3.0),
            // D asked for one in two for drugs, and has it; nobody else asked.
            ("leakage/subjects/max_of_limit", 1.0),
            ("leakage/subjects/near_limit", 0.0),
            ("leakage/subjects/subjects", 10.0),
        ],
    );
}

#[test]
fn sets_of_items_are_measured_as_fingerprints_are() {
    let itemsets = Model::Itemsets {
        sensitive: sensitive(),
        m: 2,
        qid_conflict: QidConflict::Reject,
    };
    assert_eq!(
        measured(itemsets, &[published()], &SUBJECTS),
        Some(report())
    );
}

#[test]
fn analysts_see_what_the_table_itself_tells() {
    let public = public_part(&report());
    let names: Vec<&String> = public.measures.keys().collect();
    assert_eq!(
        names,
        [
            "c_dm",
            "fingerprints",
            "group_sizes",
            "qid_ncp_published",
            "reidentification_risk",
            "value_shares"
        ]
    );
}

#[test]
fn a_table_that_does_not_fit_is_an_error() {
    let fits = |tables: &[PublishedTable], subjects: &[u32]| {
        measured(fingerprints(), tables, subjects).is_some()
    };
    let renamed = |at: usize, name: &str| {
        let mut table = published();
        table.columns[at].name = name.into();
        table
    };
    let mut short = published();
    if let Cells::Numbers(groups) = &mut short.columns[0].cells {
        groups.pop();
    }
    assert!(fits(&[published()], &SUBJECTS));
    assert!(!fits(&[], &SUBJECTS));
    assert!(!fits(&[published()], &SUBJECTS[1..]));
    assert!(!fits(&[published()], &[0, 1, 2, 3, 6]));
    assert!(!fits(&[renamed(1, "weight")], &SUBJECTS));
    assert!(!fits(&[renamed(3, "id")], &SUBJECTS));
    assert!(!fits(&[short], &SUBJECTS));
    let buckets = Model::Bucketized {
        protections: Vec::new(),
    };
    assert!(measured(buckets, &[published()], &SUBJECTS).is_none());
}
