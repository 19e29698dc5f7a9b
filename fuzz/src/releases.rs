//! Releases of the bundled sample: generalized, bucketized, sliced, in blocks.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use vizard_anonymizer::catalog::{Assignment, Engine, Unobserved, in_memory, produce};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, ReadLimits, RecordFormat, Schema, SubjectKeys,
    Table, TableBuilder, Target, read_records,
};
use vizard_anonymizer::privacy::{CancelFlag, Requirements, Seed};
use vizard_anonymizer::query::QueryIndex;
use vizard_anonymizer::release::{InputDescription, Lineage, Manifest, PublishedTable, TableDescription};
use vizard_anonymizer::verify::{AtOnce, Evidence, Ordered, Verdict, verify};

/// Records of the bundled sample that the releases are made of.
const SAMPLE_RECORDS: usize = 150;
/// What decides every random choice.
const SEED: u64 = 7;

const JOBS: [(&str, &str); 5] = [
    ("lgb", r#"{"k": 3, "l": 2}"#),
    ("mondrian", r#"{"k": 5}"#),
    ("anatomy", r#"{"l": 2}"#),
    ("slicing", r#"{"k": 2, "l": 2, "clusters": 3}"#),
    ("arp", r#"{"l": 2}"#),
];

/// The sample's first records, as they are.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read_sample("semi_sensitive"))
}

/// The same for engines that publish an attribute in one way for everyone.
fn uniform_table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read_sample("quasi_identifier"))
}

/// The sample's first records, its semi-sensitive attributes in this role.
fn read_sample(role: &str) -> Table {
    let spec = include_str!("../../sample/spec.json").replace("semi_sensitive", role);
    let spec: Value = serde_json::from_str(&spec).expect("JSON");
    let schema: Schema = serde_json::from_value(spec["schema"].clone()).expect("a schema");
    let read =
        |text: &str| HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv).expect("a tree");
    let diagnosis = include_str!("../../sample/hierarchies/diagnosis.csv");
    let district = include_str!("../../sample/hierarchies/district.csv");
    let profession = include_str!("../../sample/hierarchies/profession.csv");
    let hierarchies = HierarchySet::from([
        ("diagnosis".into(), read(diagnosis)),
        ("district".into(), read(district)),
        ("profession".into(), read(profession)),
    ]);
    let lines = include_str!("../../sample/records.csv").lines();
    let text: Vec<&str> = lines.take(SAMPLE_RECORDS + 1).collect();
    let text = text.join("\n");
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("they fit");
    let mut keys = Vec::new();
    let mut subjects = SubjectKeys::new([7; 16], &mut keys);
    let mut sink = |chunk| builder.push(chunk);
    let bytes = text.as_bytes();
    read_records(bytes, RecordFormat::Csv, &target, &mut subjects, &mut sink)
        .expect("the sample is sound");
    builder.finish().expect("the sample is sound")
}

/// One release.
pub struct Published {
    pub manifest: Manifest,
    pub tables: Vec<PublishedTable>,
    /// The tables as canonical CSV.
    pub texts: Vec<Vec<u8>>,
    pub lineage: Lineage,
    requirements: Requirements,
    table: &'static Table,
}

impl Published {
    fn of(name: &str, parameters: &str) -> Self {
        let table = match name {
            "lgb" => table(),
            _ => uniform_table(),
        };
        let parameters: Value = serde_json::from_str(parameters).expect("JSON");
        let engine = Engine::parse(name, &parameters, table.schema()).expect("parameters");
        let assignment = Assignment {
            table,
            preferences: &[],
            engine: &engine,
            input: InputDescription {
                dataset: "sample".into(),
                version: 1,
 series: None,
},
            history: None,
            public: &[],
            suppressed: 0,
            reproducible_seed: true,
            accept_exact: &[],
            queries: 0,
            fit: None,
            population_table: None,
            reruns: 0,
            keeps_shown: true,
            rows_at_once: AtOnce::ROWS,
            // The manifest of what nobody verified says so, and does not hold.
            verify: true,
            report: false,
        };
        let context = RunContext::silent(SEED);
        let produced = produce(&assignment, &context, &mut in_memory, &mut Unobserved);
        let produced = produced.expect("the sample can be published");
        let read_back = produced.tables.iter().map(|table| table.read_back());
        let tables = read_back.collect::<Result<_, _>>();
        let texts = produced.tables.iter();
        let texts = texts.map(|table| table.text(&table.pieces).expect("it is memory"));
        let policy = engine.policy(table.schema()).expect("parameters");
        let release = Self {
            manifest: produced.manifest,
            tables: tables.expect("what was written"),
            texts: texts.collect(),
            lineage: produced.lineage,
            requirements: Requirements::new(table, policy, &[]),
            table,
        };
        let verdict = release.verify(&release.manifest, &release.tables);
        assert!(verdict.holds(), "{name} keeps what it claims");
        release
    }

    /// What the verifier says of these claims on these tables.
    pub fn verify(&self, manifest: &Manifest, tables: &[PublishedTable]) -> Verdict {
        verify(&Evidence {
            table: self.table,
            requirements: &self.requirements,
            ordered: Ordered {
                engine: &self.manifest.engine,
                parameters: &self.manifest.parameters,
                input: &self.manifest.input,
                suppressed: 0,
                reproducible_seed: true,
                accept_exact: &[],
                parts: None,
            },
            manifest,
            tables,
            lineage: &self.lineage,
            seed: &Seed::of_number(SEED),
            dataset_secret: &Seed::of_number(SEED),
            cancel: CancelFlag::never(),
            at_once: AtOnce::default(),
        })
    }
}

/// One release of each engine, in the order of their jobs.
pub fn releases() -> &'static [Published] {
    static RELEASES: OnceLock<Vec<Published>> = OnceLock::new();
    RELEASES.get_or_init(|| {
        let all = JOBS.iter();
        all.map(|(name, parameters)| Published::of(name, parameters))
            .collect()
    })
}

/// Every table of every release: its release, its place there, what the
/// manifest says of it.
pub fn tables() -> impl Iterator<Item = (&'static Published, usize, &'static TableDescription)> {
    releases().iter().flat_map(|release| {
        let all = release.manifest.tables.iter().enumerate();
        all.map(move |(at, description)| (release, at, description))
    })
}

/// Indexes that queries are answered from, one a release.
pub fn query_indexes() -> &'static [QueryIndex<'static>] {
    static INDEXES: OnceLock<Vec<QueryIndex<'static>>> = OnceLock::new();
    INDEXES.get_or_init(|| {
        let hierarchies = QueryIndex::hierarchies_of(table());
        let of = |release: &'static Published| QueryIndex::new(&release.tables, &hierarchies);
        let indexes: Vec<_> = releases()
            .iter()
            .filter_map(|release| of(release).ok())
            .collect();
        assert_eq!(indexes.len(), JOBS.len(), "each of them");
        indexes
    })
}
