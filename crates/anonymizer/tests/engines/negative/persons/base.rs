//! Valid releases of persons, made so that they are valid by construction.
//!
//! Every subject is born from one of six *kinds*, each a published fingerprint:
//! their values are drawn from under its members, one of each at least. Groups
//! take the same number of every kind, so that a group of 2 · 6 has each
//! fingerprint twice. Cells are the least that cover the group, found by
//! looking at every member. Every bound is attained exactly.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use vizard_anonymizer::microdata::{
    AttributeType, ChunkColumn, Code, HierarchySet, Preference, Schema, SubjectIndex,
    SubjectRecords, Table, TextColumn, Values,
};
use vizard_anonymizer::privacy::{K, L, Model, Policy, QidConflict, RecordTerms, Requirements};
use vizard_anonymizer::release::{
    Cell, Cells, Content, Item, Lineage, PublishedColumn, PublishedTable, Release, TableLineage,
};

use crate::case::{Case, dictionary};
use crate::made;
use crate::negative::Random;

const CITIES: &str = "Bergen;West;*\nStavanger;West;*\nHaugesund;West;*\n\
                      Oslo;East;*\nDrammen;East;*\nHamar;East;*\nTromso;North;*\nBodo;North;*\n";
const DISEASES: &str = "flu;respiratory;any\nasthma;respiratory;any\npneumonia;respiratory;any\n\
                        ulcer;digestive;any\ngastritis;digestive;any\ncolitis;digestive;any\n\
                        hernia;digestive;any\nangina;heart;any\nstroke;heart;any\n\
                        rash;skin;any\nacne;skin;any\nscar;skin;any\n";
/// Members of the fingerprint of diseases, `+` joining a union, and of drugs.
const KINDS: [(&[&str], &[&str]); 6] = [
    (&["flu"], &["*"]),
    (&["flu", "heart"], &["a"]),
    (&["respiratory", "ulcer"], &["b+c"]),
    (&["colitis+gastritis", "respiratory"], &["*"]),
    (&["digestive", "skin"], &["b+c"]),
    (&["any"], &["a", "b+c"]),
];
/// Subjects of each kind in a group.
const OF_A_KIND: usize = 2;
pub const GROUPS: usize = 10;
pub const GROUP_SIZE: usize = OF_A_KIND * KINDS.len();

/// Which engine's claims a release carries.
#[derive(Clone, Copy, PartialEq)]
pub enum Engine {
    OneToMany,
    Rmr,
}

/// The leaves under a member.
fn under(member: &str) -> Vec<&str> {
    let mut leaves: Vec<&str> = Vec::new();
    for part in member.split('+') {
        let of_tree = DISEASES
            .lines()
            .filter(|line| line.split(';').any(|label| label == part));
        leaves.extend(of_tree.map(|line| line.split(';').next().unwrap()));
        match part {
            "*" => leaves.extend(["a", "b", "c", "d"]),
            "a" | "b" | "c" | "d" => leaves.push(part),
            _ => {}
        }
    }
    leaves
}

fn published(members: &[&str]) -> Cell {
    if members == ["*"] {
        return Cell::Masked;
    }
    let items = members.iter().map(|member| {
        if member.contains('+') {
            Item::Union(member.split('+').map(str::to_owned).collect())
        } else {
            Item::Node((*member).into())
        }
    });
    let mut items: Vec<Item> = items.collect();
    items.sort();
    Cell::Items(items)
}

/// A record: subject, age, city, job, weight, admitted, disease, drug.
type Record = (
    usize,
    i64,
    &'static str,
    &'static str,
    f64,
    i32,
    String,
    String,
);

/// Values of each member at least once, and some more, in any pairing.
fn values(members: &[&str], random: &mut Random) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for member in members {
        let leaves = under(member);
        for _ in 0..random.random_range(1..=2) {
            values.push(leaves[random.random_range(0..leaves.len())].to_owned());
        }
    }
    values
}

/// Records of all subjects; the kind of subject s is s modulo the kinds, and
/// the last subject is one more who asks to be left out.
fn records(random: &mut Random) -> Vec<Record> {
    const PLACES: [&str; 8] = [
        "Bergen",
        "Stavanger",
        "Haugesund",
        "Oslo",
        "Drammen",
        "Hamar",
        "Tromso",
        "Bodo",
    ];
    const JOBS: [&str; 5] = ["baker", "clerk", "driver", "nurse", "teacher"];
    let mut records: Vec<Record> = Vec::new();
    for subject in 0..=GROUPS * GROUP_SIZE {
        let (diseases, drugs) = KINDS[subject % KINDS.len()];
        let diseases = values(diseases, random);
        let drugs = values(drugs, random);
        let mut quasi = (
            random.random_range(18..90_i64),
            PLACES[random.random_range(0..PLACES.len())],
            JOBS[random.random_range(0..JOBS.len())],
        );
        for at in 0..diseases.len().max(drugs.len()) {
            let weight = f64::from(random.random_range(450..1200)) / 10.0;
            let admitted = random.random_range(20_000..20_090);
            let disease = diseases[at.min(diseases.len() - 1)].clone();
            let drug = drugs[at.min(drugs.len() - 1)].clone();
            records.push((
                subject, quasi.0, quasi.1, quasi.2, weight, admitted, disease, drug,
            ));
            if random.random_bool(0.2) {
                quasi.0 += 1;
                quasi.1 = PLACES[random.random_range(0..PLACES.len())];
                quasi.2 = JOBS[random.random_range(0..JOBS.len())];
            }
        }
    }
    // Records of one subject lie anywhere in the source.
    records.shuffle(random);
    records
}

/// The visits of all subjects.
pub fn source(random: &mut Random) -> Table {
    let document = json!({
        "name": "visits", "subject_key": "patient", "multiplicity": "many",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "email", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"},
            {"name": "job", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"},
            {"name": "ward", "role": "insensitive", "type": "categorical"},
            {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
            {"name": "drug", "role": "sensitive", "type": "categorical"},
            {"name": "admitted", "role": "quasi_identifier", "type": "date"}
        ]
    });
    let schema: Schema = serde_json::from_value(document).expect("the schema is sound");
    let mut hierarchies = HierarchySet::new();
    hierarchies.insert("cities".into(), made::tree(CITIES));
    hierarchies.insert("diseases".into(), made::tree(DISEASES));
    let records = records(random);
    let texts = |of: &dyn Fn(&Record) -> String| -> ChunkColumn {
        let texts: Vec<String> = records.iter().map(of).collect();
        ChunkColumn::Text(texts.iter().map(String::as_str).collect::<TextColumn>())
    };
    let columns = vec![
        texts(&|record| format!("P-{:05}", record.0 * 7 + 1000)),
        texts(&|record| format!("someone{}@example.org", record.0)),
        ChunkColumn::Integer(records.iter().map(|record| record.1).collect()),
        made::categories(records.iter().map(|record| record.2)),
        made::categories(records.iter().map(|record| record.3)),
        made::categories(records.iter().map(|record| record.6.as_str())),
        made::categories(records.iter().map(|_| "A")),
        ChunkColumn::Decimal(records.iter().map(|record| record.4).collect()),
        made::categories(records.iter().map(|record| record.7.as_str())),
        ChunkColumn::Date(records.iter().map(|record| record.5).collect()),
    ];
    made::table(&schema, &hierarchies, columns)
}

/// Number of a subject of the table as it was born.
fn born(table: &Table, subject: SubjectIndex) -> usize {
    let key = table.subject_keys().get(subject.at());
    (key["P-".len()..].parse::<usize>().unwrap() - 1000) / 7
}

/// Terms that the release attains, some of them exactly.
pub fn preferences(engine: Engine) -> Vec<Preference> {
    let key = |born: usize| format!("P-{:05}", born * 7 + 1000);
    // Of a kind a group has two, of combinations of members at least as many.
    let k = match engine {
        Engine::OneToMany => GROUP_SIZE,
        Engine::Rmr => OF_A_KIND,
    };
    let documents = [
        json!({"subject": key(GROUPS * GROUP_SIZE), "exclude": true}),
        json!({"subject": key(0), "max_reidentification": 1.0 / k as f64}),
        json!({"subject": key(7), "max_leakage": 1.0 / KINDS.len() as f64}),
        json!({"subject": key(14), "max_leakage": {"drug": 0.5}}),
    ];
    let preferences = documents.into_iter();
    preferences
        .map(|document| serde_json::from_value(document).expect("the preference is sound"))
        .collect()
}

/// The policy whose bounds the release attains exactly.
pub fn policy(engine: Engine, rule: QidConflict, table: &Table) -> Policy {
    let sensitive = table.schema().protectable();
    let l = L::new(KINDS.len() as u32).unwrap();
    let model = match engine {
        Engine::OneToMany => Model::Fingerprints {
            k_group: K::new(GROUP_SIZE as u32).unwrap(),
            // Flu is published for two of six kinds.
            value_l: L::new(3).unwrap(),
            qid_conflict: rule,
            l: sensitive.into_iter().map(|index| (index, l)).collect(),
        },
        Engine::Rmr => Model::Itemsets {
            m: 2,
            qid_conflict: rule,
            sensitive,
        },
    };
    let k = match engine {
        Engine::OneToMany => GROUPS * OF_A_KIND,
        Engine::Rmr => OF_A_KIND,
    };
    Policy {
        model,
        k: K::new(k as u32).unwrap(),
        apply_preferences: true,
    }
}

/// Subjects of each row and their group: kinds are dealt out by age, so that
/// groups differ.
fn rows(table: &Table, random: &mut Random) -> Vec<(SubjectIndex, usize)> {
    let records = SubjectRecords::of(table);
    let age = table.coded(table.schema().find("age").unwrap()).unwrap();
    let mut rows = Vec::new();
    for kind in 0..KINDS.len() {
        let all = (0..table.subjects()).map(SubjectIndex::from_usize);
        let mut of_kind: Vec<SubjectIndex> = all
            .filter(|&subject| {
                let born = born(table, subject);
                born % KINDS.len() == kind && born < GROUPS * GROUP_SIZE
            })
            .collect();
        of_kind.sort_by_key(|&subject| age.code(records.of_subject(subject)[0]));
        let dealt = of_kind.into_iter().enumerate();
        rows.extend(dealt.map(|(at, subject)| (subject, at / OF_A_KIND)));
    }
    rows.shuffle(random);
    rows
}

/// Codes of a subject that count under a rule.
pub fn counting(table: &Table, name: &str, rule: QidConflict, subject: SubjectIndex) -> Vec<Code> {
    let column = table.coded(table.schema().find(name).unwrap()).unwrap();
    let all = SubjectRecords::of(table);
    let codes = all
        .of_subject(subject)
        .iter()
        .map(|&record| column.code(record));
    let codes: Vec<Code> = codes.collect();
    match rule {
        QidConflict::First => codes[..1].to_vec(),
        QidConflict::Latest => codes[codes.len() - 1..].to_vec(),
        QidConflict::Reject | QidConflict::Hull => codes,
    }
}

/// The least cell that covers some codes.
pub fn least(table: &Table, name: &str, codes: &[Code]) -> Cell {
    let domain = &table
        .coded(table.schema().find(name).unwrap())
        .unwrap()
        .domain;
    let (low, high) = (*codes.iter().min().unwrap(), *codes.iter().max().unwrap());
    match (domain.values(), domain.hierarchy()) {
        (Values::Integer(values), _) => Cell::Integer(values[low.at()], values[high.at()]),
        (Values::Decimal(values), _) => Cell::Decimal(values[low.at()], values[high.at()]),
        (Values::Date(values), _) => Cell::Date(values[low.at()], values[high.at()]),
        (Values::Category(_), Some(tree)) => {
            let mut nodes = tree.nodes().iter();
            let covering =
                |node: &&vizard_anonymizer::microdata::Node| node.covers(low) && node.covers(high);
            let lowest = nodes
                .by_ref()
                .filter(covering)
                .max_by_key(|node| node.depth);
            match lowest.unwrap().label.as_str() {
                "*" => Cell::Masked,
                label => Cell::Label(label.into()),
            }
        }
        (Values::Category(values), None) => {
            let mut labels: Vec<String> =
                codes.iter().map(|code| values[code.at()].clone()).collect();
            labels.sort();
            labels.dedup();
            match labels.len() {
                1 => Cell::Label(labels.remove(0)),
                _ => Cell::Set(labels),
            }
        }
    }
}

/// One column behind the groups.
fn column(
    table: &Table,
    name: &str,
    rule: QidConflict,
    rows: &[(SubjectIndex, usize)],
) -> PublishedColumn {
    let attribute = table.schema().find(name).unwrap();
    let (content, kind, cells): (_, _, Vec<Cell>) = match name {
        "disease" | "drug" => {
            let cells = rows.iter().map(|&(subject, _)| {
                let (diseases, drugs) = KINDS[born(table, subject) % KINDS.len()];
                published(if name == "drug" { drugs } else { diseases })
            });
            let kind = Some(AttributeType::Categorical);
            (Content::Fingerprint, kind, cells.collect())
        }
        _ => {
            let of_group = (0..GROUPS).map(|group| {
                let members = rows.iter().filter(|row| row.1 == group);
                let codes = members.flat_map(|row| counting(table, name, rule, row.0));
                least(table, name, &codes.collect::<Vec<Code>>())
            });
            let of_group: Vec<Cell> = of_group.collect();
            let cells = rows.iter().map(|&(_, group)| of_group[group].clone());
            let kind = table.schema().attribute(attribute).kind;
            (Content::Generalized, kind, cells.collect())
        }
    };
    PublishedColumn {
        name: name.into(),
        content,
        kind,
        cells: dictionary(cells),
    }
}

/// A valid release.
pub fn release(seed: u64, engine: Engine, rule: QidConflict) -> Case {
    let mut random = Random::seed_from_u64(seed);
    let table = source(&mut random);
    let policy = policy(engine, rule, &table);
    let requirements = Requirements::new(&table, policy, &preferences(engine));
    let rows = rows(&table, &mut random);
    let mut numbers: Vec<u64> = (1..=GROUPS as u64).collect();
    numbers.shuffle(&mut random);
    let group = rows.iter().map(|&(_, group)| numbers[group]).collect();
    let mut columns = vec![PublishedColumn {
        name: "group".into(),
        content: Content::Group,
        kind: None,
        cells: Cells::Numbers(group),
    }];
    let all = SubjectRecords::of(&table);
    assert_eq!(all.subjects(), GROUPS * GROUP_SIZE + 1);
    let names = [
        "age", "city", "job", "disease", "weight", "drug", "admitted",
    ];
    columns.extend(names.map(|name| column(&table, name, rule, &rows)));
    let release = Release {
        tables: vec![PublishedTable {
            name: "persons".into(),
            columns,
        }],
        lineage: Lineage {
            tables: vec![TableLineage {
                table: "persons".into(),
                subjects: rows.iter().map(|row| row.0).collect(),
            }],
        },
        excluded: 1,
        unsatisfiable: Vec::new(),
        kept: None,
        parts: None,
    };
    let name = match engine {
        Engine::OneToMany => "one_to_many",
        Engine::Rmr => "rmr",
    };
    Case::made_by(name, (table, requirements), json!({}), release)
}

/// What the subject of a row asks for.
pub fn terms(case: &Case, row: usize) -> RecordTerms {
    let records = SubjectRecords::of(&case.table);
    let record = records.of_subject(case.subjects()[row])[0];
    case.requirements.of(record).clone()
}
