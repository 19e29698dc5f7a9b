//! p(t, s) as the paper writes it, slow and obvious: texts of cells, every
//! bucket, every value, nothing shared with the verifier.

use std::collections::{BTreeMap, BTreeSet};

use vizard_anonymizer::microdata::{Code, RecordIndex, Role};
use vizard_anonymizer::release::Cell;

use crate::case::Case;

/// A published row of one column, by header.
type Part = BTreeMap<String, String>;

fn text(cell: &Cell) -> String {
    let mut text = String::new();
    cell.text(&mut text);
    text
}

fn attribute_of(header: &str) -> &str {
    header.strip_suffix("@2").unwrap_or(header)
}

/// Buckets, each with its columns, each with its rows.
pub struct Sliced {
    /// Rows of each column of each bucket.
    buckets: Vec<Vec<Vec<Part>>>,
    /// Generalized cells of each bucket.
    generalized: Vec<BTreeMap<String, Cell>>,
    /// Headers of each column.
    columns: Vec<Vec<String>>,
    quasi: BTreeSet<String>,
}

impl Sliced {
    pub fn of(case: &Case) -> Self {
        let numbers = case.numbers("columns", "column");
        let headers = case.cells("columns", "attribute");
        let mut columns: Vec<Vec<String>> = Vec::new();
        let mut generalized: Vec<String> = Vec::new();
        for (number, header) in numbers.into_iter().zip(&headers) {
            match number {
                0 => generalized.push(text(header)),
                number => {
                    columns.resize(columns.len().max(number as usize), Vec::new());
                    columns[number as usize - 1].push(text(header));
                }
            }
        }
        let bucket_of_row = case.numbers("sliced", "bucket");
        let buckets = bucket_of_row.iter().copied().max().unwrap_or(0) as usize;
        let mut sliced = Self {
            buckets: vec![vec![Vec::new(); columns.len()]; buckets],
            generalized: vec![BTreeMap::new(); buckets],
            quasi: BTreeSet::new(),
            columns,
        };
        for attribute in case.table.schema().attributes() {
            if attribute.role == Role::QuasiIdentifier {
                sliced.quasi.insert(attribute.name.clone());
            }
        }
        let cells = |header: &String| (header.clone(), case.cells("sliced", header));
        for (at, headers) in sliced.columns.clone().iter().enumerate() {
            let cells: BTreeMap<String, Vec<Cell>> = headers.iter().map(cells).collect();
            for (row, bucket) in bucket_of_row.iter().enumerate() {
                let part = cells
                    .iter()
                    .map(|(header, cells)| (header.clone(), text(&cells[row])));
                sliced.buckets[*bucket as usize - 1][at].push(part.collect());
            }
        }
        for header in &generalized {
            let cells = case.cells("sliced", header);
            for (row, bucket) in bucket_of_row.iter().enumerate() {
                let of_bucket = &mut sliced.generalized[*bucket as usize - 1];
                of_bucket.insert(header.clone(), cells[row].clone());
            }
        }
        sliced
    }

    /// Whether a part shows what is known of someone.
    fn fits(&self, part: &Part, known: &Part) -> bool {
        part.iter().all(|(header, value)| {
            let name = attribute_of(header);
            !self.quasi.contains(name) || known[name] == *value
        })
    }

    /// Every distribution that a reader can make of a bucket about someone
    /// with these quasi-identifiers; none if they cannot be in it.
    fn distributions(
        &self,
        bucket: usize,
        known: &Part,
        sensitive: &str,
    ) -> Option<Vec<BTreeMap<String, f64>>> {
        let shows = |headers: &&Vec<String>| headers.iter().any(|h| attribute_of(h) == sensitive);
        let views: Vec<usize> = (0..self.columns.len())
            .filter(|&at| shows(&&self.columns[at]))
            .collect();
        let value = |part: &Part| {
            let mut own = part
                .iter()
                .filter(|(header, _)| attribute_of(header) == sensitive);
            own.next().expect("the column shows it").1.clone()
        };
        let mut all = Vec::new();
        for &view in &views {
            let mut counts = BTreeMap::new();
            for part in &self.buckets[bucket][view] {
                if self.fits(part, known) {
                    *counts.entry(value(part)).or_insert(0.0) += 1.0;
                }
            }
            all.push(counts);
        }
        if let [one, other] = views[..] {
            let names = |at: usize| -> BTreeSet<String> {
                self.columns[at]
                    .iter()
                    .map(|h| attribute_of(h).to_owned())
                    .collect()
            };
            let shared: BTreeSet<String> =
                names(one).intersection(&names(other)).cloned().collect();
            let mut rows = BTreeMap::new();
            let mut records = BTreeMap::new();
            for left in self.buckets[bucket][one]
                .iter()
                .filter(|part| self.fits(part, known))
            {
                for right in self.buckets[bucket][other].iter() {
                    if !self.fits(right, known) || value(left) != value(right) {
                        continue;
                    }
                    // Records that could have this row on the left.
                    let same = self.buckets[bucket][one].iter().filter(|part| {
                        value(part) == value(left)
                            && part.iter().all(|(header, text)| {
                                let name = attribute_of(header);
                                !shared.contains(name)
                                    || !self.quasi.contains(name)
                                    || known[name] == *text
                            })
                    });
                    *rows.entry(value(left)).or_insert(0.0) += 1.0;
                    *records.entry(value(left)).or_insert(0.0) += 1.0 / same.count() as f64;
                }
            }
            all.extend([rows, records]);
        }
        all.iter().all(|counts| !counts.is_empty()).then_some(all)
    }

    fn degree(&self, case: &Case, bucket: usize, known: &Part) -> f64 {
        let mut degree = 1.0;
        for parts in &self.buckets[bucket] {
            let fitting = parts.iter().filter(|part| self.fits(part, known)).count();
            degree *= fitting as f64 / parts.len() as f64;
        }
        for (header, cell) in &self.generalized[bucket] {
            if !covers(case, header, cell, &known[header]) {
                degree = 0.0;
            }
        }
        degree
    }
}

/// Whether a generalized cell covers a value: it is among the values that the
/// cell's text, or the nodes under it, name.
fn covers(case: &Case, name: &str, cell: &Cell, value: &str) -> bool {
    if let Cell::OrMissing(interval) = cell {
        return value == "(missing)" || covers(case, name, interval, value);
    }
    let domain = case.domain(name);
    let mut codes = (0..domain.len()).map(|at| Code(at as u32));
    let own = codes.find(|&code| text(&case.exact(name, code)) == value);
    let own = own.expect("the value is in the domain");
    match cell {
        Cell::Masked => true,
        Cell::Integer(lo, hi) => {
            let number = domain.number(own);
            *lo as f64 <= number && number <= *hi as f64
        }
        Cell::Decimal(lo, hi) => *lo <= domain.number(own) && domain.number(own) <= *hi,
        Cell::Date(lo, hi) => {
            let number = domain.number(own);
            f64::from(*lo) <= number && number <= f64::from(*hi)
        }
        Cell::Label(label) => match domain.hierarchy() {
            None => *label == domain.text(own),
            Some(tree) => {
                let mut above = tree.nodes().iter().filter(|node| node.label == *label);
                above.any(|node| node.covers(own))
            }
        },
        Cell::Set(labels) => labels.iter().any(|label| *label == domain.text(own)),
        _ => false,
    }
}

/// The largest p(t, s) over all published subjects, values, weights (matching
/// degree, and size times it) and distributions.
pub fn largest_probability(case: &Case, sensitive: &str) -> Option<f64> {
    let sliced = Sliced::of(case);
    let mut most: Option<f64> = None;
    for subject in case.subjects() {
        let known = known(case, subject.0);
        let mut sums: BTreeMap<(usize, bool, String), f64> = BTreeMap::new();
        let mut weights = [0.0, 0.0];
        for bucket in 0..sliced.buckets.len() {
            let degree = sliced.degree(case, bucket, &known);
            let met = sensitive_names(case)
                .iter()
                .map(|name| Some((name.clone(), sliced.distributions(bucket, &known, name)?)))
                .collect::<Option<BTreeMap<_, _>>>();
            let (Some(met), true) = (met, degree > 0.0) else {
                continue;
            };
            let size = sliced.buckets[bucket][0].len() as f64;
            weights[0] += degree;
            weights[1] += degree * size;
            for (way, counts) in met[sensitive].iter().enumerate() {
                let total: f64 = counts.values().sum();
                for (value, count) in counts {
                    for (by_size, weight) in [(false, degree), (true, degree * size)] {
                        let sum = sums.entry((way, by_size, value.clone())).or_insert(0.0);
                        *sum += weight * count / total;
                    }
                }
            }
        }
        for ((_, by_size, _), sum) in sums {
            let probability = sum / weights[usize::from(by_size)];
            most = Some(most.map_or(probability, |most| most.max(probability)));
        }
    }
    most
}

/// p(t, s) of one subject and one value by the paper's weights, of the first
/// distribution.
pub fn probability(case: &Case, subject: u32, sensitive: &str, value: &str) -> f64 {
    let sliced = Sliced::of(case);
    let known = known(case, subject);
    let (mut sum, mut weight) = (0.0, 0.0);
    for bucket in 0..sliced.buckets.len() {
        let degree = sliced.degree(case, bucket, &known);
        let Some(met) = sliced.distributions(bucket, &known, sensitive) else {
            continue;
        };
        let total: f64 = met[0].values().sum();
        sum += degree * met[0].get(value).copied().unwrap_or(0.0) / total;
        weight += degree;
    }
    sum / weight
}

fn sensitive_names(case: &Case) -> Vec<String> {
    let attributes = case.table.schema().attributes().iter();
    let sensitive = attributes.filter(|attribute| attribute.role == Role::Sensitive);
    sensitive.map(|attribute| attribute.name.clone()).collect()
}

/// What is known of a subject: the quasi-identifiers, as they are published.
fn known(case: &Case, subject: u32) -> Part {
    let schema = case.table.schema();
    let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let pairs = quasi.into_iter().map(|at| {
        let name = schema.attribute(at).name.clone();
        let code = case
            .table
            .code(at, RecordIndex(subject))
            .expect("it is coded");
        let cell = case.exact(&name, code);
        (name, text(&cell))
    });
    pairs.collect()
}
