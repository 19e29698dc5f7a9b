//! Eight subjects in two groups, published by hand.

use std::sync::Arc;

use serde_json::json;

use crate::microdata::{
    AttributeType, Chunk, ChunkColumn, HierarchyFormat, HierarchySet, HierarchySource, Preference,
    Schema, SubjectIndex, Table, TableBuilder,
};
use crate::privacy::{
    CancelFlag, InBucket, K, L, Model, Policy, QidConflict, Requirements, Seed, Spread,
};
use crate::release::rounded_to_tens;
use crate::release::{
    ColumnDescription, Content, CsvDecoder, Guarantee, InputDescription, Lineage, MadeBy, Manifest,
    PIECE_BYTES_MAX, PublishedTable, TableDescription, TableLineage, encode_csv, order,
    published_exactly, statement,
};

use crate::verify::{Check, Evidence, Ordered, Verdict, verify};

pub const CITIES: &str = "Bergen;West;*\nStavanger;West;*\nOslo;East;*\nHamar;East;*\n";
pub const DISEASES: &str = "flu;resp;*\ncold;resp;*\nasthma;resp;*\nstroke;heart;*\nangina;heart;*\n\
                            rash;skin;*\nacne;skin;*\nburn;skin;*\nscar;skin;*\n";

/// Subject, age, city, job, disease, drug.
pub type Record = (
    &'static str,
    i64,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

pub const RECORDS: &[Record] = &[
    ("p1", 20, "Bergen", "baker", "flu", "x"),
    ("p2", 22, "Bergen", "clerk", "cold", "y"),
    ("p5", 50, "Oslo", "nurse", "flu", "x"),
    ("p3", 29, "Stavanger", "baker", "stroke", "w"),
    ("p3", 29, "Stavanger", "baker", "rash", "z"),
    ("p4", 25, "Bergen", "clerk", "acne", "z"),
    ("p4", 25, "Bergen", "clerk", "stroke", "x"),
    ("p5", 55, "Bergen", "nurse", "asthma", "y"),
    ("p6", 51, "Oslo", "nurse", "cold", "y"),
    ("p7", 52, "Hamar", "nurse", "stroke", "w"),
    ("p7", 52, "Hamar", "nurse", "burn", "z"),
    ("p8", 54, "Oslo", "nurse", "scar", "z"),
    ("p8", 54, "Oslo", "nurse", "stroke", "z"),
    ("p8", 54, "Oslo", "nurse", "rash", "w"),
];

/// Both groups have every fingerprint twice; rows are put in order before they
/// are verified.
pub const PERSONS: &str = "\
group,age,city,job,disease,drug
1,20..29,West,{baker|clerk},resp,{x|y}
2,50..55,*,nurse,skin|stroke,*
1,20..29,West,{baker|clerk},skin|stroke,*
2,50..55,*,nurse,resp,{x|y}
1,20..29,West,{baker|clerk},resp,{x|y}
1,20..29,West,{baker|clerk},skin|stroke,*
2,50..55,*,nurse,skin|stroke,*
2,50..55,*,nurse,resp,{x|y}
";
pub const SUBJECTS: [&str; 8] = ["p1", "p7", "p3", "p5", "p2", "p4", "p8", "p6"];

/// A release by its parts.
#[derive(Clone)]
pub struct Small {
    pub records: Vec<Record>,
    pub persons: String,
    pub subjects: Vec<&'static str>,
    pub excluded: u64,
    pub k: u32,
    pub l: u32,
    pub model: Model,
    pub preferences: Vec<serde_json::Value>,
}

impl Small {
    /// (4, 2)-diversity with groups of 4, and no value in more than a half.
    pub fn new() -> Self {
        Self {
            records: RECORDS.to_vec(),
            persons: PERSONS.into(),
            subjects: SUBJECTS.to_vec(),
            excluded: 0,
            k: 4,
            l: 2,
            model: fingerprints(4, 2, QidConflict::Hull),
            preferences: Vec::new(),
        }
    }

    /// The same table as k^m-anonymous itemsets.
    pub fn itemsets(k: u32, m: u32) -> Self {
        let qid_conflict = QidConflict::Hull;
        Self {
            k,
            l: 1,
            model: Model::Itemsets {
                m,
                qid_conflict,
                sensitive: Vec::new(),
            },
            ..Self::new()
        }
    }

    #[must_use]
    pub fn asking(mut self, preference: serde_json::Value) -> Self {
        self.preferences.push(preference);
        self
    }

    #[must_use]
    pub fn replacing(mut self, from: &str, to: &str) -> Self {
        assert!(self.persons.contains(from), "{from}");
        self.persons = self.persons.replacen(from, to, 1);
        self
    }

    pub fn table(&self) -> Table {
        let document = json!({
            "name": "small", "subject_key": "id", "multiplicity": "many",
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "city", "role": "quasi_identifier", "type": "categorical",
                 "hierarchy": "cities"},
                {"name": "job", "role": "quasi_identifier", "type": "categorical"},
                {"name": "disease", "role": "sensitive", "type": "categorical",
                 "hierarchy": "diseases"},
                {"name": "drug", "role": "sensitive", "type": "categorical"}
            ]
        });
        let schema: Schema = serde_json::from_value(document).expect("the schema is sound");
        let mut hierarchies = HierarchySet::new();
        for (name, lines) in [("cities", CITIES), ("diseases", DISEASES)] {
            let tree = HierarchySource::read(lines.as_bytes(), HierarchyFormat::Csv);
            hierarchies.insert(name.into(), tree.expect("the tree is sound"));
        }
        let records = &self.records;
        let columns = vec![
            ChunkColumn::Text(records.iter().map(|record| record.0).collect()),
            ChunkColumn::Integer(records.iter().map(|record| record.1).collect()),
            categories(records.iter().map(|record| record.2)),
            categories(records.iter().map(|record| record.3)),
            categories(records.iter().map(|record| record.4)),
            categories(records.iter().map(|record| record.5)),
        ];
        let builder = TableBuilder::new(Arc::new(schema), &hierarchies);
        let mut builder = builder.expect("hierarchies are known");
        let chunk = Chunk {
            records: records.len(),
            columns,
        };
        builder.push(chunk).expect("the columns fit");
        builder.finish().expect("the table is sound")
    }

    fn requirements(&self, table: &Table) -> Requirements {
        let protected = table.schema().protectable();
        let mut model = self.model.clone();
        let own = L::new(self.l).expect("an l");
        match &mut model {
            Model::Fingerprints { l, .. } => {
                *l = protected.into_iter().map(|index| (index, own)).collect();
            }
            Model::Bucketized { protections } => {
                let protection = InBucket::Diversity {
                    l: own,
                    min_spread: Spread::Nothing,
                };
                let protected = protected.into_iter();
                *protections = protected.map(|index| (index, protection)).collect();
            }
            Model::Itemsets { sensitive, .. } => *sensitive = protected,
            _ => panic!("no test has such a policy"),
        }
        let policy = Policy {
            model,
            k: K::new(self.k).expect("a k"),
            apply_preferences: true,
        };
        let preferences = self.preferences.iter();
        let preferences: Vec<Preference> = preferences
            .map(|document| serde_json::from_value(document.clone()).expect("a preference"))
            .collect();
        Requirements::new(table, policy, &preferences)
    }

    pub fn verdict(&self) -> Verdict {
        let table = self.table();
        let published = decode(&self.persons);
        let keys: Vec<&str> = table.subject_keys().iter().collect();
        let subjects = self.subjects.iter().map(|subject| {
            let at = keys.iter().position(|key| key == subject);
            SubjectIndex::from_usize(at.expect("the subject is known"))
        });
        let mut lineage = Lineage {
            tables: vec![TableLineage {
                table: "persons".into(),
                subjects: subjects.collect(),
            }],
        };
        let mut tables = [published];
        let seed = Seed::of_number(0);
        order(&mut tables, &mut lineage, &seed);
        let input = made_up();
        verify(&Evidence {
            table: &table,
            requirements: &self.requirements(&table),
            ordered: Ordered {
                engine: self.engine(),
                parameters: &json!({}),
                input: &input,
                suppressed: 0,
                reproducible_seed: false,
                accept_exact: &[],
                parts: None,
            },
            manifest: &self.manifest(&table, &tables[0]),
            tables: &tables,
            lineage: &lineage,
            seed: &seed,
            dataset_secret: &seed,
            cancel: CancelFlag::never(),
            at_once: crate::verify::AtOnce::default(),
        })
    }

    fn engine(&self) -> &'static str {
        match self.model {
            Model::Itemsets { .. } => "rmr",
            _ => "one_to_many",
        }
    }

    fn manifest(&self, table: &Table, published: &PublishedTable) -> Manifest {
        let requirements = self.requirements(table);
        let (schema, policy) = (table.schema(), requirements.policy());
        let summary = encode_csv(published, PIECE_BYTES_MAX, &mut |_, _| {});
        Manifest {
            format: Manifest::FORMAT.into(),
            engine: self.engine().into(),
            parameters: json!({}),
            records: published.rows() as u64,
            excluded: rounded_to_tens(self.excluded),
            suppressed: 0,
            normalized: Vec::new(),
            transformed: Vec::new(),
            guarantees: self.guarantees(),
            adversary: statement::adversary(self.engine(), policy),
            not_protected: statement::not_protected(
                self.engine(),
                schema,
                policy,
                (&[], None, None),
            ),
            published_exactly: published_exactly(std::slice::from_ref(published), schema, false),
            accept_exact: Vec::new(),
            kept: None,
            parts: None,
            tables: vec![TableDescription::of(published, &summary)],
            input: made_up(),
            made_by: MadeBy {
                vizard: env!("CARGO_PKG_VERSION").into(),
            },
            unverified: false,
            reproducible_seed: false,
        }
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        let scope = String::from("subjects of a group");
        let (k, l) = (self.k, self.l);
        let mut guarantees = match self.model {
            Model::Itemsets { m, .. } => vec![
                Guarantee::KAnonymity { k, scope },
                Guarantee::KmAnonymity { k, m },
            ],
            Model::Fingerprints {
                k_group, value_l, ..
            } => {
                let mut guarantees = vec![
                    Guarantee::KAnonymity {
                        k: k_group.get(),
                        scope,
                    },
                    Guarantee::FingerprintK { k },
                    Guarantee::LDiversity {
                        attribute: "*".into(),
                        l,
                    },
                ];
                let l = value_l.get();
                guarantees.extend((l > 1).then_some(Guarantee::ValueL { l }));
                guarantees
            }
            _ => Vec::new(),
        };
        guarantees.push(Guarantee::MaxLeakage {
            attribute: "*".into(),
            scope: "each subject's own preference".into(),
        });
        guarantees
    }

    /// Kinds of the checks that do not hold.
    pub fn failed(&self) -> Vec<&'static str> {
        self.verdict().failed().map(|check| check.kind).collect()
    }

    /// The check of a kind; the first.
    pub fn check(&self, kind: &str) -> Check {
        let verdict = self.verdict();
        let found = verdict.checks.iter().find(|check| check.kind == kind);
        found.unwrap_or_else(|| panic!("{kind} is checked")).clone()
    }

    /// What a check attains.
    pub fn attained(&self, kind: &str) -> Option<f64> {
        self.check(kind).attained
    }
}

pub fn fingerprints(k_group: u32, value_l: u32, qid_conflict: QidConflict) -> Model {
    Model::Fingerprints {
        k_group: K::new(k_group).expect("a k"),
        value_l: L::new(value_l).expect("an l"),
        qid_conflict,
        l: Vec::new(),
    }
}

fn categories(cells: impl Iterator<Item = &'static str>) -> ChunkColumn {
    let cells: Vec<&str> = cells.collect();
    let mut labels = cells.clone();
    labels.sort_unstable();
    labels.dedup();
    let codes = cells
        .iter()
        .map(|cell| labels.binary_search(cell).unwrap() as u32);
    ChunkColumn::Category {
        codes: codes.collect(),
        labels: labels.into_iter().collect(),
    }
}

fn decode(text: &str) -> PublishedTable {
    use AttributeType::{Categorical, Integer};
    use Content::{Fingerprint, Generalized, Group};
    let contents = [
        (Group, None),
        (Generalized, Some(Integer)),
        (Generalized, Some(Categorical)),
        (Generalized, Some(Categorical)),
        (Fingerprint, Some(Categorical)),
        (Fingerprint, Some(Categorical)),
    ];
    let names = text.lines().next().expect("a header").split(',');
    let columns: Vec<ColumnDescription> = names
        .zip(contents)
        .map(|(name, (content, kind))| ColumnDescription {
            name: name.into(),
            content,
            kind,
            types: std::collections::BTreeMap::new(),
            masked: false,
            missing: false,
            sets: false,
        })
        .collect();
    let mut decoder = CsvDecoder::new(&columns);
    decoder
        .piece(text.as_bytes())
        .expect("the text is canonical");
    decoder.finish("persons").expect("the table is whole")
}

fn made_up() -> InputDescription {
    InputDescription {
        dataset: "made-up".into(),
        version: 1,
        series: None,
    }
}
