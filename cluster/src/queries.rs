//! What is asked of executors, as plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array, BinaryArray, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{Expr, GroupingSet, TableType, col, lit};
use datafusion::physical_expr::expressions::col as column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion::prelude::{SessionConfig, SessionContext};
use vizard_anonymizer::catalog::elsewhere::BoardColumn;
use vizard_anonymizer::engine::kernel::outline::SetNumber;

use crate::leaf::{BYTES, LeafExec, Publishing};
use crate::links::Links;
use crate::scan::{Reading, SET, ScanExec, pieces};

/// Name of the column with counts.
const COUNT: &str = "count";

/// What is read of a board, as a table.
#[derive(Debug)]
struct ReadTable {
    reading: Reading,
    links: Links,
}

/// Reads all pieces of a board.
fn scan(reading: Reading, links: &Links) -> Result<ScanExec> {
    let pieces = pieces(&reading.board)?;
    ScanExec::new(reading, pieces, links.clone())
}

#[async_trait]
impl TableProvider for ReadTable {
    fn schema(&self) -> SchemaRef {
        self.reading.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = Arc::new(scan(self.reading.clone(), &self.links)?);
        let all: Vec<usize> = (0..=self.reading.columns.len()).collect();
        match projection.filter(|projection| **projection != all) {
            // All columns that are read are grouped by.
            Some(_) => Err(DataFusionError::Plan(
                "a column is read and not used".into(),
            )),
            None => Ok(scan),
        }
    }
}

/// A grouping of counts: the set and these columns.
pub type Grouping = Vec<BoardColumn>;

/// A group of rows and how many they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The set.
    pub set: SetNumber,
    /// The code of each column of its grouping.
    pub codes: BTreeMap<BoardColumn, u32>,
    /// Rows.
    pub count: u64,
}

/// Counts rows of sets by several groupings at once.
pub async fn counts(
    config: &SessionConfig,
    (reading, links): (Reading, &Links),
    groupings: &[Grouping],
) -> Result<Arc<dyn ExecutionPlan>> {
    let sets = groupings.iter().map(|grouping| {
        let columns = grouping.iter().map(|column| col(column.to_string()));
        std::iter::once(col(SET)).chain(columns).collect()
    });
    let sets = Expr::GroupingSet(GroupingSet::GroupingSets(sets.collect()));
    let table = ReadTable {
        reading,
        links: links.clone(),
    };
    let context = SessionContext::new_with_config(config.clone());
    let rows = context.read_table(Arc::new(table))?;
    let counted = rows.aggregate(vec![sets], vec![count(lit(1_i64)).alias(COUNT)])?;
    counted.create_physical_plan().await
}

/// The counts in the answer to [`counts`].
pub fn read_counts(batches: &[RecordBatch]) -> Result<Vec<Counted>> {
    let unfit = || DataFusionError::Execution("counts have other columns".into());
    let mut all = Vec::new();
    for batch in batches {
        let numbers = |name: &str| {
            let column = batch.column_by_name(name)?;
            column.as_any().downcast_ref::<UInt32Array>()
        };
        let sets = numbers(SET).ok_or_else(unfit)?;
        let counts = batch.column_by_name(COUNT);
        let counts = counts.and_then(|counts| counts.as_any().downcast_ref::<Int64Array>());
        let counts = counts.ok_or_else(unfit)?;
        let schema = batch.schema();
        let columns = schema.fields().iter().filter_map(|field| {
            let column: BoardColumn = field.name().parse().ok()?;
            Some((column, numbers(field.name())?))
        });
        let columns: Vec<(BoardColumn, &UInt32Array)> = columns.collect();
        all.extend((0..batch.num_rows()).map(|row| {
            let known = columns.iter().filter(|(_, codes)| codes.is_valid(row));
            Counted {
                set: sets.value(row),
                codes: known
                    .map(|(column, codes)| (*column, codes.value(row)))
                    .collect(),
                count: counts.value(row) as u64,
            }
        }));
    }
    Ok(all)
}

/// Publishes sets: rows of one set come together, in the order of records.
pub fn publish(
    (reading, links): (Reading, &Links),
    publishing: Publishing,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let scan = Arc::new(scan(reading, links)?);
    let schema = scan.reading().schema();
    let [set, record] = [SET, "record"].map(|name| column(name, &schema));
    let (set, record) = (set?, record?);
    let by_set = Partitioning::Hash(vec![Arc::clone(&set)], partitions);
    let rows = Arc::new(RepartitionExec::try_new(scan, by_set)?);
    let order = [set, record].map(PhysicalSortExpr::new_default);
    let order = LexOrdering::new(order);
    let order = order.ok_or_else(|| DataFusionError::Plan("no order of rows".into()))?;
    let rows = SortExec::new(order, rows).with_preserve_partitioning(true);
    Ok(Arc::new(LeafExec::new(
        publishing,
        Arc::new(rows),
        links.clone(),
    )))
}

/// The packed answer of each set in the answer to [`publish`].
pub fn read_answers(batches: &[RecordBatch]) -> Result<BTreeMap<SetNumber, Vec<u8>>> {
    let unfit = || DataFusionError::Execution("answers have other columns".into());
    let mut chunks: BTreeMap<(SetNumber, u32), &[u8]> = BTreeMap::new();
    for batch in batches {
        let numbers = |name: &str| {
            let column = batch.column_by_name(name)?;
            column.as_any().downcast_ref::<UInt32Array>()
        };
        let bytes = batch.column_by_name(BYTES);
        let bytes = bytes.and_then(|bytes| bytes.as_any().downcast_ref::<BinaryArray>());
        let sets = numbers(SET).ok_or_else(unfit)?;
        let numbers = numbers(crate::leaf::CHUNK).ok_or_else(unfit)?;
        let bytes = bytes.ok_or_else(unfit)?;
        for row in 0..batch.num_rows() {
            chunks.insert((sets.value(row), numbers.value(row)), bytes.value(row));
        }
    }
    let mut answers: BTreeMap<SetNumber, Vec<u8>> = BTreeMap::new();
    for ((set, _), chunk) in chunks {
        answers.entry(set).or_default().extend_from_slice(chunk);
    }
    Ok(answers)
}
