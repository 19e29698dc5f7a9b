//! A release with everything that the verifier is given, held so that a test
//! can change any part of it and seal the manifest over the change.

use std::sync::Arc;

use crate::portions;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{
    AttributeIndex, Code, Codes, Domain, Preference, RecordIndex, Role, Schema, SubjectIndex, Table,
};
use vizard_anonymizer::privacy::{
    CancelFlag, History, InBucket, L, Model, Parts, ProtectedIndex, RecordTerms, Requirements,
    Seed, Spread,
};
use vizard_anonymizer::release::{
    AcceptedExact, Cell, Cells, InputDescription, Kept, Lineage, MadeBy, Manifest, Normalized,
    PIECE_BYTES_MAX, PublishedColumn, PublishedExactly, PublishedTable, Release, SeriesMode,
    TableDescription, Transformed, decode_csv, encode_csv, guarantees, order, rounded_to_tens,
    statement,
};
use vizard_anonymizer::verify::{self, AtOnce, Evidence, Ordered, Verdict, verify};

/// What a job ordered.
#[derive(Clone)]
pub struct Order {
    pub engine: String,
    pub parameters: serde_json::Value,
    pub input: InputDescription,
}

/// A release beside its source.
#[derive(Clone)]
pub struct Case {
    pub table: Table,
    pub requirements: Requirements,
    pub ordered: Order,
    /// What the job publishes although it may identify people.
    pub accept_exact: Vec<AcceptedExact>,
    pub manifest: Manifest,
    pub tables: Vec<PublishedTable>,
    pub lineage: Lineage,
    pub seed: Seed,
    /// What every release of the dataset shares.
    pub dataset_secret: Seed,
    /// The parts that the table was published in.
    pub parts: Option<Parts>,
    /// Exactly how many the engine left out; the manifest has it in tens.
    pub excluded: u64,
    /// Heeded by verifier and measures.
    pub cancel: CancelFlag,
}

/// Every insensitive attribute: made-up ones identify nobody.
pub fn accepted(schema: &Schema) -> Vec<AcceptedExact> {
    let insensitive = schema.select(|attribute| attribute.role == Role::Insensitive);
    let accepted = insensitive.into_iter().map(|index| AcceptedExact {
        attribute: schema.attribute(index).name.clone(),
        reason: "made up".into(),
    });
    accepted.collect()
}

/// A policy of buckets for these attributes.
pub fn buckets(schema: &Schema) -> Model {
    let protection = InBucket::Diversity {
        l: L::NONE,
        min_spread: Spread::Nothing,
    };
    let protectable = schema.protectable().into_iter();
    Model::Bucketized {
        protections: protectable.map(|index| (index, protection)).collect(),
    }
}

impl Case {
    /// What lgb made, with its tables decoded from their bytes.
    pub fn of(
        table: Table,
        requirements: Requirements,
        parameters: serde_json::Value,
        release: Release,
    ) -> Self {
        Self::made_by("lgb", (table, requirements), parameters, release)
    }

    /// What an engine made, with its tables decoded from their bytes.
    /// What a run of an engine publishes, drawn by the seed of number 0.
    pub fn run(
        engine: &str,
        table: Table,
        parameters: &serde_json::Value,
        preferences: &[Preference],
        seed: u64,
    ) -> Result<Self, EngineError> {
        Self::keeping(engine, table, parameters, preferences, (seed, None))
    }

    /// The same for a series that keeps what was shown of its subjects.
    pub fn keeping(
        engine: &str,
        table: Table,
        parameters: &serde_json::Value,
        preferences: &[Preference],
        (seed, history): (u64, Option<Arc<History>>),
    ) -> Result<Self, EngineError> {
        let parsed = Engine::parse(engine, parameters, table.schema())?;
        let policy = parsed.policy(table.schema())?;
        let requirements = Requirements::new(&table, policy, preferences).keeping(history);
        Self::by(&parsed, (table, requirements), seed)
    }

    /// What this engine publishes.
    pub fn by(
        engine: &Engine,
        (table, requirements): (Table, Requirements),
        seed: u64,
    ) -> Result<Self, EngineError> {
        let release = engine.run(&table, &requirements, &RunContext::silent(seed))?;
        let parts = engine.parts_of(&requirements)?;
        let (made, parameters) = ((table, requirements), engine.parameters().clone());
        Ok(Self {
            dataset_secret: Seed::of_number(seed),
            parts,
            ..Self::made_by(engine.name(), made, parameters, release)
        })
    }

    pub fn made_by(
        engine: &str,
        (table, requirements): (Table, Requirements),
        parameters: serde_json::Value,
        mut release: Release,
    ) -> Self {
        let seed = Seed::of_number(0);
        order(&mut release.tables, &mut release.lineage, &seed);
        let (mut tables, mut descriptions) = (Vec::new(), Vec::new());
        for table in &release.tables {
            let mut pieces: Vec<Vec<u8>> = Vec::new();
            let mut keep = |piece, _| pieces.push(piece);
            let summary = encode_csv(table, PIECE_BYTES_MAX, &mut keep);
            let description = TableDescription::of(table, &summary);
            tables.push(decode_csv(&description, &pieces).expect("canonical CSV reads back"));
            descriptions.push(description);
        }
        let ordered = Order {
            engine: engine.into(),
            parameters,
            input: InputDescription {
                dataset: "made-up".into(),
                version: 1,
                series: requirements.history().map(|history| match history.groups {
                    Some(_) => SeriesMode::Nested,
                    None => SeriesMode::Invariant,
                }),
            },
        };
        let (schema, policy) = (table.schema(), requirements.ordered());
        let accept_exact = accepted(schema);
        let manifest = Manifest {
            format: Manifest::FORMAT.into(),
            engine: engine.into(),
            parameters: ordered.parameters.clone(),
            records: tables.first().map_or(0, |table| table.rows() as u64),
            excluded: rounded_to_tens(release.excluded),
            suppressed: 0,
            normalized: Normalized::of(&table),
            transformed: Transformed::of(schema),
            guarantees: guarantees(policy, schema),
            adversary: statement::adversary(engine, policy),
            not_protected: statement::not_protected(
                engine,
                schema,
                policy,
                (&accept_exact, ordered.input.series, requirements.history()),
            ),
            published_exactly: PublishedExactly::default(),
            accept_exact: accept_exact.clone(),
            kept: release.kept.clone().map(Kept::published),
            parts: release.parts,
            tables: descriptions,
            input: ordered.input.clone(),
            made_by: MadeBy {
                vizard: env!("CARGO_PKG_VERSION").into(),
            },
            unverified: false,
            reproducible_seed: false,
        };
        let mut case = Self {
            accept_exact,
            ordered,
            table,
            requirements,
            manifest,
            tables,
            lineage: release.lineage,
            dataset_secret: seed.clone(),
            parts: None,
            seed,
            excluded: release.excluded,
            cancel: CancelFlag::default(),
        };
        case.manifest.published_exactly = case.published_exactly();
        case
    }

    fn published_exactly(&self) -> PublishedExactly {
        verify::published_exactly(&self.tables, &self.requirements, self.table.schema())
    }

    /// The same release as one of the run with this seed, for engines whose
    /// draws are drawn again.
    pub fn drawn_by(mut self, seed: u64) -> Self {
        self.seed = Seed::of_number(seed);
        self.dataset_secret = Seed::of_number(seed);
        self.put_in_order();
        self
    }

    /// Puts tables and lineage in the order in which they are published, and
    /// describes them anew.
    pub fn put_in_order(&mut self) {
        order(&mut self.tables, &mut self.lineage, &self.seed);
        self.tables = self.tables.iter().map(PublishedTable::canonical).collect();
        self.seal();
    }

    /// The verdict, which is the same whether the release is looked at as a whole or
    /// portion by portion.
    pub fn verdict(&self) -> Verdict {
        let whole = self.verdict_by_portions(usize::MAX);
        if portions::are_compared(&self.ordered.engine) {
            let rows = self.tables.first().map_or(0, PublishedTable::rows);
            portions::agree(&whole, &self.verdict_by_portions(1 + rows / 3));
        }
        whole
    }

    /// The same, looked at so many rows at a time, where they can be parted.
    pub fn verdict_by_portions(&self, rows: usize) -> Verdict {
        verify(&Evidence {
            table: &self.table,
            requirements: &self.requirements,
            ordered: Ordered {
                engine: &self.ordered.engine,
                parameters: &self.ordered.parameters,
                input: &self.ordered.input,
                suppressed: 0,
                reproducible_seed: false,
                accept_exact: &self.accept_exact,
                parts: self.parts,
            },
            manifest: &self.manifest,
            tables: &self.tables,
            lineage: &self.lineage,
            seed: &self.seed,
            dataset_secret: &self.dataset_secret,
            cancel: &self.cancel,
            at_once: AtOnce::rows(rows),
        })
    }

    /// Makes the manifest describe the tables as they are now: what a forger
    /// would do, so that no corruption is caught by its digest alone.
    pub fn seal(&mut self) {
        let describe = |table: &PublishedTable| {
            TableDescription::of(table, &encode_csv(table, PIECE_BYTES_MAX, &mut |_, _| {}))
        };
        self.manifest.tables = self.tables.iter().map(describe).collect();
        self.manifest.records = self.rows() as u64;
        self.manifest.published_exactly = self.published_exactly();
    }

    pub fn published(&self, name: &str) -> &PublishedTable {
        let found = self.tables.iter().find(|table| table.name == name);
        found.expect("the table is published")
    }

    pub fn published_mut(&mut self, name: &str) -> &mut PublishedTable {
        let found = self.tables.iter_mut().find(|table| table.name == name);
        found.expect("the table is published")
    }

    /// Name of the table whose rows are about subjects.
    pub fn row_table(&self) -> &'static str {
        let has = |name: &str| self.tables.iter().any(|table| table.name == name);
        let names = ["persons", "quasi", "sliced"];
        let found = names.into_iter().find(|name| has(name));
        found.unwrap_or("microdata")
    }

    pub fn rows(&self) -> usize {
        self.published(self.row_table()).rows()
    }

    fn column(&self, table: &str, column: &str) -> &PublishedColumn {
        self.published(table)
            .column(column)
            .expect("the column is published")
    }

    fn column_mut(&mut self, table: &str, column: &str) -> &mut PublishedColumn {
        let mut columns = self.published_mut(table).columns.iter_mut();
        let found = columns.find(|found| found.name == column);
        found.expect("the column is published")
    }

    /// The cells of a column, row by row.
    pub fn cells(&self, table: &str, column: &str) -> Vec<Cell> {
        match &self.column(table, column).cells {
            Cells::Dictionary { codes, cells } => codes
                .iter()
                .map(|code| cells[code as usize].clone())
                .collect(),
            Cells::Numbers(_) => panic!("{column} holds numbers"),
        }
    }

    pub fn set_cells(&mut self, table: &str, column: &str, rows: Vec<Cell>) {
        self.column_mut(table, column).cells = dictionary(rows);
    }

    /// The numbers of a column, row by row.
    pub fn numbers(&self, table: &str, column: &str) -> Vec<u64> {
        match &self.column(table, column).cells {
            Cells::Numbers(numbers) => numbers.clone(),
            Cells::Dictionary { .. } => panic!("{column} holds cells"),
        }
    }

    pub fn set_numbers(&mut self, table: &str, column: &str, rows: Vec<u64>) {
        self.column_mut(table, column).cells = Cells::Numbers(rows);
    }

    /// Keeps the rows at these positions, in this order; the lineage follows.
    pub fn take_rows(&mut self, table: &str, rows: &[usize]) {
        for column in &mut self.published_mut(table).columns {
            match &mut column.cells {
                Cells::Numbers(numbers) => *numbers = pick(numbers, rows),
                Cells::Dictionary { codes, .. } => {
                    *codes = rows.iter().map(|&row| codes.at(row)).collect()
                }
            }
        }
        for lineage in self
            .lineage
            .tables
            .iter_mut()
            .filter(|lineage| lineage.table == table)
        {
            lineage.subjects = pick(&lineage.subjects, rows);
        }
    }

    pub fn subjects(&self) -> &[SubjectIndex] {
        let lineage = self.lineage.of(self.row_table());
        lineage.expect("rows have a lineage")
    }

    pub fn subjects_mut(&mut self) -> &mut Vec<SubjectIndex> {
        &mut self.lineage.tables[0].subjects
    }

    pub fn record(&self, row: usize) -> RecordIndex {
        RecordIndex(self.subjects()[row].0)
    }

    pub fn attribute(&self, name: &str) -> AttributeIndex {
        self.table
            .schema()
            .find(name)
            .expect("the attribute exists")
    }

    pub fn domain(&self, name: &str) -> &Domain {
        &self
            .table
            .coded(self.attribute(name))
            .expect("it is coded")
            .domain
    }

    /// The source code of a row's value.
    pub fn code(&self, name: &str, row: usize) -> Code {
        let code = self.table.code(self.attribute(name), self.record(row));
        code.expect("it is coded")
    }

    pub fn terms(&self, row: usize) -> &RecordTerms {
        self.requirements.of(self.record(row))
    }

    pub fn protected(&self, name: &str) -> ProtectedIndex {
        let attribute = self.attribute(name);
        let mut all = self.requirements.protected();
        let found = all.find(|&index| self.requirements.attribute(index) == attribute);
        found.expect("the attribute is protectable")
    }

    pub fn flagged(&self, name: &str, row: usize) -> bool {
        self.terms(row).flags.contains(self.protected(name))
    }

    /// Rows by published group number − 1.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let numbers = self.numbers(self.row_table(), "group");
        let mut groups = vec![Vec::new(); numbers.iter().copied().max().unwrap_or(0) as usize];
        for (row, number) in numbers.into_iter().enumerate() {
            groups[number as usize - 1].push(row);
        }
        groups
    }

    /// Rows by a column of numbers from 1, without empty ones.
    pub fn groups_of(&self, table: &str, column: &str) -> Vec<Vec<usize>> {
        let numbers = self.numbers(table, column);
        let mut groups = std::collections::BTreeMap::new();
        for (row, number) in numbers.into_iter().enumerate() {
            groups.entry(number).or_insert_with(Vec::new).push(row);
        }
        groups.into_values().collect()
    }

    /// Names of the attributes that are generalized.
    pub fn generalized(&self) -> Vec<String> {
        let columns = self.published(self.row_table()).columns.iter();
        let wanted = columns
            .filter(|column| column.content == vizard_anonymizer::release::Content::Generalized);
        wanted.map(|column| column.name.clone()).collect()
    }

    /// What a reader sees of a row: its generalized cells.
    pub fn look(&self, row: usize) -> Vec<Cell> {
        let names = self.generalized();
        let look = names
            .iter()
            .map(|name| match &self.column(self.row_table(), name).cells {
                Cells::Dictionary { codes, cells } => cells[codes.at(row) as usize].clone(),
                Cells::Numbers(_) => panic!("{name} holds numbers"),
            });
        look.collect()
    }

    /// The cell that publishes one value of an attribute exactly.
    pub fn exact(&self, name: &str, code: Code) -> Cell {
        use vizard_anonymizer::microdata::Values;
        let domain = self.domain(name);
        match domain.values() {
            _ if domain.missing() == Some(code) => Cell::missing(),
            Values::Integer(values) => Cell::Integer(values[code.at()], values[code.at()]),
            Values::Decimal(values) => Cell::Decimal(values[code.at()], values[code.at()]),
            Values::Date(values) => Cell::Date(values[code.at()], values[code.at()]),
            Values::Category(values) => Cell::Label(values[code.at()].clone()),
        }
    }
}

fn pick<T: Copy>(all: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|&row| all[row]).collect()
}

/// Changes codes one by one.
pub fn edit(codes: &mut Codes, change: impl FnOnce(&mut Vec<u32>)) {
    let mut all = codes.iter().collect();
    change(&mut all);
    *codes = all.into();
}

/// A dictionary column of these cells, each distinct cell once, in order of
/// first appearance.
pub fn dictionary(rows: Vec<Cell>) -> Cells {
    let mut cells: Vec<Cell> = Vec::new();
    let codes = rows.into_iter().map(|cell| {
        let found = cells.iter().position(|known| *known == cell);
        found.unwrap_or_else(|| {
            cells.push(cell);
            cells.len() - 1
        }) as u32
    });
    let codes = codes.collect();
    Cells::Dictionary { codes, cells }
}
