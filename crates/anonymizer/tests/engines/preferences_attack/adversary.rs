//! An adversary who wants to know who asked for something.
//!
//! They know the release, everybody's quasi-identifiers and the algorithm, and
//! are taken to place everyone in their group: no weaker adversary does better.
//! Everyone in a group then gets the group's visible features as scores: its
//! size, the width of its cells, how its values are spread. Over several
//! releases each feature is taken at its least and at its largest, so that
//! whoever is in a large group every time stands out.
//!
//! The figures: the area under the ROC curve (0.5 tells nothing), and the best
//! precision of any threshold that selects enough people.

use vizard_anonymizer::microdata::{RecordIndex, Role, Table};
use vizard_anonymizer::privacy::{RecordTerms, Requirements, Share};
use vizard_anonymizer::release::{Cell, Cells, PublishedTable, Release};

/// A threshold selects at least this many, and this part of those who asked:
/// less is chance, or a handful of people.
const SELECTED_MIN: usize = 20;
const ASKERS_PART: usize = 20;

/// What somebody may have asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A k beyond the job's.
    K,
    /// An l, or a largest share of one value.
    OfValues,
}

impl Ask {
    fn is_asked(self, terms: &RecordTerms, floor: u32) -> bool {
        match self {
            Self::K => terms.own.k > floor,
            Self::OfValues => {
                terms.own.l.iter().any(|&l| l > 1)
                    || terms.own.share.iter().any(|&share| share < Share::ALL)
            }
        }
    }
}

/// What the adversary attains.
#[derive(Clone, Copy, Debug)]
pub struct Attained {
    /// Subjects who asked and are published, of how many.
    pub askers: usize,
    pub published: usize,
    /// The best area under the curve of any feature, at least 0.5.
    pub auc: f64,
    /// The best share of askers among those whom a threshold selects.
    pub precision: f64,
}

/// The attack on releases of the same data: `None` where too few asked.
pub fn attack(
    (table, requirements): (&Table, &Requirements),
    releases: &[Release],
    ask: Ask,
) -> Option<Attained> {
    let seen: Vec<Vec<Vec<f64>>> = releases
        .iter()
        .map(|release| features(table, release))
        .collect();
    let floor = requirements.policy().k.get();
    let asks = asks_of_subjects(table, requirements, |terms| ask.is_asked(terms, floor));
    let subjects = 0..table.subjects();
    let is_published = |&subject: &usize| seen.iter().all(|of| !of[0][subject].is_nan());
    let published: Vec<usize> = subjects.filter(is_published).collect();
    let askers = published.iter().filter(|&&subject| asks[subject]).count();
    if askers < SELECTED_MIN {
        return None;
    }
    let mut attained = Attained {
        askers,
        published: published.len(),
        auc: 0.5,
        precision: askers as f64 / published.len() as f64,
    };
    for feature in 0..seen[0].len() {
        for fold in [f64::min, f64::max] {
            let score = |&subject: &usize| {
                let each = seen.iter().map(|of| of[feature][subject]);
                each.reduce(fold).unwrap_or(f64::NAN)
            };
            let mut scored: Vec<(f64, bool)> = published
                .iter()
                .map(|subject| (score(subject), asks[*subject]))
                .collect();
            scored.sort_by(|one, other| one.0.total_cmp(&other.0));
            for _ in 0..2 {
                let (auc, precision) = curve(&scored, askers);
                attained.auc = attained.auc.max(auc);
                attained.precision = attained.precision.max(precision);
                scored.reverse();
            }
        }
    }
    Some(attained)
}

/// Area under the curve, and best precision, of taking those scored last.
fn curve(scored: &[(f64, bool)], askers: usize) -> (f64, f64) {
    let (mut above, mut askers_above, mut area) = (0, 0, 0.0);
    let mut best = 0.0_f64;
    for run in scored.chunk_by(|one, other| one.0 == other.0).rev() {
        let of_run = run.iter().filter(|(_, asks)| *asks).count();
        let others = run.len() - of_run;
        area += others as f64 * (askers_above as f64 + of_run as f64 / 2.0);
        above += run.len();
        askers_above += of_run;
        if above >= SELECTED_MIN && askers_above * ASKERS_PART >= askers {
            best = best.max(askers_above as f64 / above as f64);
        }
    }
    let pairs = askers as f64 * (scored.len() - askers) as f64;
    (area / pairs.max(1.0), best)
}

/// Who asks, by subject.
fn asks_of_subjects(
    table: &Table,
    requirements: &Requirements,
    is_asked: impl Fn(&RecordTerms) -> bool,
) -> Vec<bool> {
    let mut asks = vec![false; table.subjects()];
    for record in (0..table.records()).map(RecordIndex::from_usize) {
        asks[table.subject_of(record).at()] = is_asked(requirements.of(record));
    }
    asks
}

/// Visible features, each by subject; NaN for whoever is not published.
fn features(table: &Table, release: &Release) -> Vec<Vec<f64>> {
    let rows = rows_of_subjects(release);
    let lineage = release.lineage.of(&rows.name).expect("rows have a lineage");
    let mut found = Vec::new();
    for numbers in number_columns(rows) {
        let classes = Classes::of(numbers);
        found.push(classes.each(|members| members.len() as f64));
        found.push(classes.each(|members| width(table, lineage, members)));
        for cells in dictionaries(rows) {
            found.push(classes.each(|members| distinct(cells, members)));
            found.push(classes.each(|members| empty(cells, members)));
        }
    }
    let by_subject = |of_rows: Vec<f64>| {
        let mut scores = vec![f64::NAN; table.subjects()];
        for (subject, score) in lineage.iter().zip(of_rows) {
            scores[subject.at()] = score;
        }
        scores
    };
    found.into_iter().map(by_subject).collect()
}

/// The table whose rows are about subjects.
fn rows_of_subjects(release: &Release) -> &PublishedTable {
    let is_of_subjects = |table: &&PublishedTable| release.lineage.of(&table.name).is_some();
    let found = release.tables.iter().find(is_of_subjects);
    found.expect("some rows are about subjects")
}

fn number_columns(table: &PublishedTable) -> impl Iterator<Item = &Vec<u64>> {
    table
        .columns
        .iter()
        .filter_map(|column| match &column.cells {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Dictionary { .. } => None,
        })
}

fn dictionaries(table: &PublishedTable) -> impl Iterator<Item = &Cells> {
    let columns = table.columns.iter().map(|column| &column.cells);
    columns.filter(|cells| matches!(cells, Cells::Dictionary { .. }))
}

/// Rows with one published number.
struct Classes {
    of_row: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Classes {
    fn of(numbers: &[u64]) -> Self {
        let mut known: Vec<u64> = numbers.to_vec();
        known.sort_unstable();
        known.dedup();
        let at = |number: &u64| known.binary_search(number).expect("it is there");
        let of_row: Vec<usize> = numbers.iter().map(at).collect();
        let mut members = vec![Vec::new(); known.len()];
        for (row, &class) in of_row.iter().enumerate() {
            members[class].push(row);
        }
        Self { of_row, members }
    }

    /// The feature of each row's class.
    fn each(&self, feature: impl Fn(&[usize]) -> f64) -> Vec<f64> {
        let of_class: Vec<f64> = self.members.iter().map(|rows| feature(rows)).collect();
        self.of_row.iter().map(|&class| of_class[class]).collect()
    }
}

/// Mean width of the quasi-identifiers of a class: what its cells must cover.
fn width(
    table: &Table,
    lineage: &[vizard_anonymizer::microdata::SubjectIndex],
    members: &[usize],
) -> f64 {
    if table.subjects() != table.records() {
        return 0.0;
    }
    let schema = table.schema();
    let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns: Vec<_> = quasi.iter().filter_map(|&at| table.coded(at)).collect();
    let widths = columns.iter().map(|column| {
        let codes = members
            .iter()
            .map(|&row| column.codes.at(lineage[row].at()));
        let (low, high) = codes.fold((u32::MAX, 0), |(low, high), code| {
            (low.min(code), high.max(code))
        });
        f64::from(high - low) / column.domain.len() as f64
    });
    widths.sum::<f64>() / columns.len().max(1) as f64
}

/// Distinct cells of a class.
fn distinct(cells: &Cells, members: &[usize]) -> f64 {
    let Cells::Dictionary { codes, .. } = cells else {
        return 0.0;
    };
    let mut seen: Vec<u32> = members.iter().map(|&row| codes.at(row)).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() as f64
}

/// Share of the cells of a class that show nothing.
fn empty(shown: &Cells, members: &[usize]) -> f64 {
    let Cells::Dictionary { codes, cells } = shown else {
        return 0.0;
    };
    let is_empty = |&&row: &&usize| matches!(cells[codes.at(row) as usize], Cell::Empty);
    members.iter().filter(is_empty).count() as f64 / members.len() as f64
}
