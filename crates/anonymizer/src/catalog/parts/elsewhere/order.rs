//! The order to publish parts of a table: all that is of the whole table, in numbers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::engine::context::{InMemory, PartOfTable, Progress, RunContext, WholeTable};
use crate::engine::error::EngineError;
use crate::engine::kernel::SplitPosition;
use crate::microdata::{
    AttributeType, CodedColumn, Codes, Domain, Hierarchy, Multiplicity, NodeIndex, RecordIndex,
    Role, Schema, Table, TableColumn, TextColumn, Values,
};
use crate::privacy::{CancelFlag, Companion, Requirements, Seed, StatedRequirements};

use super::answer::PartAnswer;
use super::board::{BoardColumn, BoardRows};
use super::words::{Texts, Words};
use super::written::{Written, renamed};
use crate::catalog::runs::Runs;

/// Everything but the rows that a part is published by, in numbers and words of the
/// program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableOrder {
    words: Words,
    engine: String,
    parameters: Written,
    multiplicity: Multiplicity,
    subject_key: u16,
    attributes: Vec<AttributeOrder>,
    requirements: StatedRequirements,
    whole: WholeTable,
    seed: [u8; Seed::BYTES],
    dataset_secret: [u8; Seed::BYTES],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AttributeOrder {
    name: u32,
    role: Role,
    kind: Option<AttributeType>,
    has_hierarchy: bool,
    domain: Option<DomainOrder>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct DomainOrder {
    values: ValuesOrder,
    lacks_numbers: bool,
    /// Parent and label of each node.
    tree: Option<Vec<(u32, u32)>>,
}

/// Values of a domain: numbers by their bits, labels by their ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ValuesOrder {
    Integer(Vec<i64>),
    Decimal(Vec<u64>),
    Date(Vec<i32>),
    Category(Vec<u32>),
}

/// The texts of a table and of what its subjects ask for.
pub(super) fn texts(table: &Table, requirements: &Requirements) -> Texts {
    let names = table.schema().attributes().iter();
    let names = names.map(|attribute| attribute.name.as_str());
    let domains = table.columns().iter().filter_map(|column| match column {
        TableColumn::Coded(column) => Some(&*column.domain),
        TableColumn::Identifier(_) => None,
    });
    let labels = domains.flat_map(|domain| {
        let nodes = domain.hierarchy().into_iter().flat_map(|tree| tree.nodes());
        let values = match domain.values() {
            Values::Category(values) => values.as_slice(),
            _ => &[],
        };
        let nodes = nodes.map(|node| node.label.as_str());
        nodes.chain(values.iter().map(String::as_str))
    });
    let terms = requirements.distinct_terms().iter();
    let guarded = terms.flat_map(|terms| &terms.guard);
    let guarded = guarded.flat_map(|(_, labels)| labels).map(String::as_str);
    Texts::of(names.chain(labels).chain(guarded))
}

impl TableOrder {
    pub(super) fn of(
        engine: (&str, &Value),
        (table, requirements): (&Table, &Requirements),
        (whole, context): (&WholeTable, &RunContext<'_>),
        texts: &Texts,
    ) -> Self {
        let schema = table.schema();
        let words = texts.words();
        let attributes = schema.attributes().iter().zip(table.columns());
        let attributes = attributes.map(|(attribute, column)| AttributeOrder {
            name: texts.rank(&attribute.name),
            role: attribute.role,
            kind: attribute.kind,
            has_hierarchy: attribute.hierarchy.is_some(),
            domain: match column {
                TableColumn::Coded(column) => Some(DomainOrder::of(&column.domain, texts)),
                TableColumn::Identifier(_) => None,
            },
        });
        let (name, parameters) = engine;
        let parameters = renamed(parameters, |name| words.word(texts.rank(name)));
        Self {
            words,
            engine: name.into(),
            parameters: Written::of(&parameters),
            multiplicity: schema.multiplicity(),
            subject_key: schema.subject_key().0,
            attributes: attributes.collect(),
            requirements: requirements.stated(|label| texts.rank(label)),
            whole: whole.clone(),
            seed: *context.seed.as_bytes(),
            dataset_secret: *context.dataset_secret.as_bytes(),
        }
    }

    /// Makes ready for parts; `engine` gives the engine of a name and parameters.
    pub(in crate::catalog) fn open(
        self,
        engine: impl Fn(&str, &Value, &Schema) -> Result<Arc<dyn Runs>, EngineError>,
    ) -> Result<OpenOrder, EngineError> {
        let unfit = || EngineError::Elsewhere("an order cannot be read".into());
        let word = |rank| self.words.word(rank);
        let attributes = self.attributes.iter().map(|attribute| {
            let mut document = Map::new();
            document.insert("name".into(), word(attribute.name).into());
            document.insert("role".into(), json!(attribute.role));
            if let Some(kind) = attribute.kind {
                document.insert("type".into(), json!(kind));
            }
            if attribute.has_hierarchy {
                document.insert("hierarchy".into(), "tree".into());
            }
            Value::Object(document)
        });
        let key = self.attributes.get(usize::from(self.subject_key));
        let schema = json!({
            "name": "table",
            "subject_key": word(key.ok_or_else(unfit)?.name),
            "multiplicity": self.multiplicity,
            "attributes": attributes.collect::<Vec<Value>>(),
        });
        let schema: Schema = serde_json::from_value(schema).map_err(|_| unfit())?;
        let domains = self
            .attributes
            .iter()
            .map(|attribute| match &attribute.domain {
                Some(domain) => domain.read(self.words).map(Some),
                None => Ok(None),
            });
        let domains: Vec<Option<Arc<Domain>>> = domains.collect::<Result<_, _>>()?;
        let engine = engine(&self.engine, &self.parameters.document(), &schema)?;
        let policy = engine.policy(&schema)?;
        Ok(OpenOrder {
            requirements: Requirements::of_stated(&self.requirements, policy, word),
            schema: Arc::new(schema),
            words: self.words,
            engine,
            domains,
            whole: self.whole,
            seed: Seed::from_bytes(self.seed),
            dataset_secret: Seed::from_bytes(self.dataset_secret),
        })
    }
}

impl DomainOrder {
    fn of(domain: &Domain, texts: &Texts) -> Self {
        let rank = |label: &String| texts.rank(label);
        Self {
            values: match domain.values() {
                Values::Integer(values) => ValuesOrder::Integer(values.clone()),
                Values::Decimal(values) => {
                    ValuesOrder::Decimal(values.iter().map(|value| value.to_bits()).collect())
                }
                Values::Date(values) => ValuesOrder::Date(values.clone()),
                Values::Category(values) => {
                    ValuesOrder::Category(values.iter().map(rank).collect())
                }
            },
            lacks_numbers: domain.missing_number().is_some(),
            tree: domain.hierarchy().map(|tree| {
                let nodes = tree.nodes().iter();
                nodes
                    .map(|node| (node.parent.0, rank(&node.label)))
                    .collect()
            }),
        }
    }

    fn read(&self, words: Words) -> Result<Arc<Domain>, EngineError> {
        let tree = match &self.tree {
            None => None,
            Some(nodes) => {
                let nodes = nodes.iter();
                let nodes = nodes.map(|&(parent, rank)| (NodeIndex(parent), words.word(rank)));
                let tree = Hierarchy::of_nodes(nodes);
                let unfit = |_| EngineError::Elsewhere("an order has no tree".into());
                Some(Arc::new(tree.map_err(unfit)?))
            }
        };
        let values = match &self.values {
            ValuesOrder::Integer(values) => Values::Integer(values.clone()),
            ValuesOrder::Decimal(values) => {
                Values::Decimal(values.iter().map(|&bits| f64::from_bits(bits)).collect())
            }
            ValuesOrder::Date(values) => Values::Date(values.clone()),
            ValuesOrder::Category(ranks) => {
                Values::Category(ranks.iter().map(|&rank| words.word(rank)).collect())
            }
        };
        let domain = Domain::new(values, tree);
        Ok(Arc::new(if self.lacks_numbers {
            domain.with_missing()
        } else {
            domain
        }))
    }
}

/// An order that is ready for parts.
#[derive(Debug)]
pub struct OpenOrder {
    words: Words,
    engine: Arc<dyn Runs>,
    schema: Arc<Schema>,
    domains: Vec<Option<Arc<Domain>>>,
    requirements: Requirements,
    whole: WholeTable,
    seed: Seed,
    dataset_secret: Seed,
}

impl OpenOrder {
    /// Publishes the part at a place of the outline; `rows` are those of its records,
    /// ascending.
    ///
    /// # Errors
    /// Cancelled, or rows that are not of this order.
    pub fn publish(
        &self,
        place: u64,
        rows: &BoardRows,
        (progress, cancel): (&dyn Progress, &CancelFlag),
    ) -> Result<PartAnswer, EngineError> {
        let records = rows.column(BoardColumn::Record);
        self.check(rows)?;
        let table = self.table(rows);
        let companions = rows.column(BoardColumn::Companion);
        let companions = (!companions.is_empty()).then(|| {
            let of = (0..).zip(companions).filter(|(_, of)| **of > 0);
            of.map(|(at, of)| (RecordIndex(at), of - 1))
                .collect::<Vec<Companion>>()
        });
        let terms = rows.column(BoardColumn::Terms).iter().copied();
        let distinct = self.requirements.distinct_terms().len();
        let terms = Codes::below(distinct, terms);
        let requirements = self.requirements.of_records(terms, companions);
        let ring = rows.column(BoardColumn::Ring);
        let context = RunContext {
            seed: self.seed.clone(),
            dataset_secret: self.dataset_secret.clone(),
            progress,
            cancel: cancel.clone(),
            part: Some(PartOfTable {
                place: SplitPosition::of_number(place),
                whole: &self.whole,
                ring: (ring.len() == records.len()).then_some(ring),
            }),
            scratch: &InMemory,
        };
        match self.engine.run(&table, &requirements, &context) {
            Ok(release) => PartAnswer::of(&release, &table, self.words),
            Err(EngineError::Infeasible(_)) => Ok(PartAnswer::Infeasible),
            Err(EngineError::Cancelled) => Err(EngineError::Cancelled),
            Err(_) => Ok(PartAnswer::Refused),
        }
    }

    /// Refuses rows that would be read beyond what the order knows.
    fn check(&self, rows: &BoardRows) -> Result<(), EngineError> {
        let records = rows.column(BoardColumn::Record);
        let terms = self.requirements.distinct_terms().len() as u32;
        let is_one = self.schema.multiplicity() == Multiplicity::One;
        let fits = |column: BoardColumn, below: u32, is_needed: bool| {
            let numbers = rows.column(column);
            let is_there = numbers.len() == records.len();
            (is_there || (!is_needed && numbers.is_empty()))
                && numbers.iter().all(|&number| number < below)
        };
        let mut coded = (0..).zip(&self.domains);
        let all_fit = !records.is_empty()
            && records.is_sorted_by(|one, other| one < other)
            && fits(BoardColumn::Terms, terms, true)
            && fits(BoardColumn::Companion, terms + 1, false)
            && fits(BoardColumn::Ring, u32::MAX, false)
            && fits(BoardColumn::Subject, u32::MAX, !is_one)
            && coded.all(|(at, domain)| match domain {
                Some(domain) => fits(BoardColumn::Code(at), domain.len() as u32, true),
                None => true,
            });
        let unfit = || EngineError::Elsewhere("rows are not those of the order".into());
        all_fit.then_some(()).ok_or_else(unfit)
    }

    /// The part as a table. Keys of subjects are not there: their texts are empty.
    fn table(&self, rows: &BoardRows) -> Table {
        let records = rows.column(BoardColumn::Record);
        let columns = (0..).zip(&self.domains).map(|(at, domain)| match domain {
            None => TableColumn::Identifier(TextColumn::new()),
            Some(domain) => {
                let codes = rows.column(BoardColumn::Code(at)).iter().copied();
                TableColumn::Coded(CodedColumn {
                    domain: Arc::clone(domain),
                    codes: Codes::below(domain.len(), codes),
                })
            }
        });
        let (subjects, subject_of) = match self.schema.multiplicity() {
            Multiplicity::One => (records.to_vec(), Vec::new()),
            Multiplicity::Many => {
                let of_records = rows.column(BoardColumn::Subject);
                let mut subjects = of_records.to_vec();
                subjects.sort_unstable();
                subjects.dedup();
                let position = |of: &u32| subjects.partition_point(|subject| subject < of) as u32;
                let subject_of = of_records.iter().map(position).collect();
                (subjects, subject_of)
            }
        };
        let mut keys = TextColumn::new();
        subjects.iter().for_each(|_| keys.push(""));
        Table::new(
            Arc::clone(&self.schema),
            columns.collect(),
            keys,
            subject_of,
        )
        .standing_at(records.to_vec(), subjects)
    }
}
