//! What an `lgb` release must keep, read off its tables row by row.
//!
//! Not the verifier: it looks at the engine's tables in memory and only at
//! the promises that each record was given, in the plainest words.

use std::collections::{BTreeMap, BTreeSet};

use vizard_anonymizer::microdata::{RecordIndex, Table};
use vizard_anonymizer::privacy::{ProtectedIndex, Protection, Requirements};
use vizard_anonymizer::release::{Cell, Cells, PublishedTable, Release};

/// Cells of one column as text; bucket and group numbers as they are, empty
/// ones as nothing.
pub fn column(table: &PublishedTable, name: &str) -> Vec<String> {
    let column = table.column(name);
    let column = column.unwrap_or_else(|| panic!("there is a column {name}"));
    match &column.cells {
        Cells::Numbers(numbers) => numbers
            .iter()
            .map(|&number| match number {
                0 => String::new(),
                number => number.to_string(),
            })
            .collect(),
        Cells::Dictionary { codes, cells } => {
            let texts: Vec<String> = cells.iter().map(text).collect();
            codes
                .iter()
                .map(|code| texts[code as usize].clone())
                .collect()
        }
    }
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Masked => "*".into(),
        Cell::Integer(low, high) => format!("{low}..{high}"),
        Cell::Decimal(low, high) => format!("{low}..{high}"),
        Cell::Date(low, high) => format!("day {low}..{high}"),
        Cell::Label(label) => label.clone(),
        Cell::Set(labels) => format!("{{{}}}", labels.join("|")),
        Cell::OrMissing(interval) => format!("(missing) or {}", text(interval)),
        Cell::Items(_) => panic!("a fingerprint"),
    }
}

/// Values of each bucket of an attribute, with repeats.
pub fn bucket_values(release: &Release, attribute: &str) -> BTreeMap<String, Vec<String>> {
    let buckets = &release.tables[1];
    let (names, numbers) = (column(buckets, "attribute"), column(buckets, "bucket"));
    let (values, counts) = (column(buckets, "value"), column(buckets, "count"));
    let mut contents: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in 0..names.len() {
        if names[row] == attribute {
            let count = counts[row].parse().expect("a count is a number");
            let values = std::iter::repeat_n(values[row].clone(), count);
            contents
                .entry(numbers[row].clone())
                .or_default()
                .extend(values);
        }
    }
    contents
}

/// Panics where a release with buckets linked to rows breaks a promise.
pub fn check(table: &Table, requirements: &Requirements, release: &Release) {
    let microdata = &release.tables[0];
    let subjects = release.lineage.of("microdata").expect("rows have subjects");
    let records: Vec<RecordIndex> = subjects
        .iter()
        .map(|subject| RecordIndex(subject.0))
        .collect();
    let distinct: BTreeSet<RecordIndex> = records.iter().copied().collect();
    assert_eq!(distinct.len(), records.len(), "a record is published once");
    assert_eq!(
        records.len() as u64 + release.excluded,
        table.records() as u64
    );
    check_groups(table, requirements, microdata, &records);
    for index in requirements.protected() {
        check_buckets(table, requirements, release, index, &records);
    }
}

/// Rows that look the same, as group and generalized cells have it.
fn check_groups(
    table: &Table,
    requirements: &Requirements,
    microdata: &PublishedTable,
    records: &[RecordIndex],
) {
    let mut looks = column(microdata, "group");
    for attribute in table.schema().publishable() {
        let cells = column(microdata, &table.schema().attribute(attribute).name);
        for (look, cell) in looks.iter_mut().zip(cells) {
            *look = format!("{look}\u{1f}{cell}");
        }
    }
    let mut size: BTreeMap<&str, u32> = BTreeMap::new();
    looks
        .iter()
        .for_each(|look| *size.entry(look).or_default() += 1);
    for (look, &record) in looks.iter().zip(records) {
        assert!(
            size[look.as_str()] >= requirements.of(record).k,
            "k is kept"
        );
    }
}

fn check_buckets(
    table: &Table,
    requirements: &Requirements,
    release: &Release,
    index: ProtectedIndex,
    records: &[RecordIndex],
) {
    let attribute = requirements.attribute(index);
    let name = &table.schema().attribute(attribute).name;
    let coded = table
        .coded(attribute)
        .expect("a published attribute is coded");
    let microdata = &release.tables[0];
    let (shown, numbers) = (
        column(microdata, name),
        column(microdata, &format!("{name}_bucket")),
    );
    let contents = bucket_values(release, name);
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, &record) in records.iter().enumerate() {
        let is_flagged = requirements.of(record).flags.contains(index);
        let is_masked = shown[row] == "*" && numbers[row].is_empty();
        assert!(
            is_masked || is_flagged == shown[row].is_empty(),
            "{name}: flagged cells are hidden"
        );
        assert!(
            is_masked || is_flagged != numbers[row].is_empty(),
            "{name}: only flagged cells are in buckets"
        );
        if !numbers[row].is_empty() {
            members.entry(&numbers[row]).or_default().push(row);
        }
    }
    assert_eq!(
        contents.len(),
        members.len(),
        "{name}: buckets and rows agree"
    );
    for (bucket, rows) in members {
        let exact = |row: &usize| match coded.domain.kind() {
            vizard_anonymizer::microdata::AttributeType::Categorical => {
                coded.domain.text(coded.code(records[*row]))
            }
            _ => {
                let value = coded.domain.text(coded.code(records[*row]));
                format!("{value}..{value}")
            }
        };
        let own = sorted(rows.iter().map(exact).collect());
        let published = sorted(contents[bucket].clone());
        assert_eq!(own, published, "{name}: a bucket holds its members' values");
        let most = own
            .chunk_by(|one, other| one == other)
            .map(<[String]>::len)
            .max();
        let most = most.unwrap_or(0) as u64;
        for &row in &rows {
            let terms = requirements.of(records[row]);
            let size = rows.len() as u64;
            match requirements.protection(index) {
                Protection::Diversity { .. } => {
                    assert!(size >= u64::from(terms.l[index.at()]), "{name}: l is kept");
                    assert_eq!(most, 1, "{name}: every value once");
                }
                Protection::Closeness { .. } | Protection::Leakage { .. } => {
                    assert!(
                        terms.max_share[index.at()].allows(most, size),
                        "{name}: share"
                    );
                    assert!(most < size, "{name}: two values");
                }
                Protection::InGroup { .. } => panic!("{name}: lgb has buckets"),
            }
        }
    }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}
