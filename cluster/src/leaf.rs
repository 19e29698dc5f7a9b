//! Publishes sets: runs the engine on the rows of each.
//!
//! Rows come sorted by set and record. What a set gives leaves as bytes in several rows,
//! packed: its answer as `vizard_anonymizer` writes it, in numbers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{Array, BinaryArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;
use tonic::Code;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::catalog::elsewhere::{BoardColumn, BoardRows, OpenOrder, TableOrder};
use vizard_anonymizer::engine::kernel::outline::SetNumber;
use vizard_anonymizer::engine::{EngineError, Silent};
use vizard_anonymizer::privacy::CancelFlag;

use crate::boards::{BoardName, IS_THERE, ORDER};
use crate::links::Links;
use crate::scan::{ask, client};

/// Name of the column with the number of a chunk of an answer.
pub const CHUNK: &str = "chunk";

/// Name of the column with the bytes of a chunk.
pub const BYTES: &str = "bytes";

/// Bytes of an answer in one row.
const CHUNK_BYTES: usize = 1 << 20;

/// How often it is asked whether the board is still there.
const WATCH_INTERVAL: Duration = Duration::from_millis(300);

/// Packing costs less time than the bytes take to send.
const LEVEL: i32 = 1;

/// The sets that are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publishing {
    /// The board that they are of.
    pub board: BoardName,
    /// The place of each in the outline; ascending by sets.
    pub places: Vec<(SetNumber, u64)>,
}

/// Publishes sets.
#[derive(Debug)]
pub struct LeafExec {
    publishing: Arc<Publishing>,
    input: Arc<dyn ExecutionPlan>,
    links: Links,
    properties: Arc<PlanProperties>,
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(crate::scan::SET, DataType::UInt32, false),
        Field::new(CHUNK, DataType::UInt32, false),
        Field::new(BYTES, DataType::Binary, false),
    ]))
}

impl LeafExec {
    /// Publishes the sets of these rows, which are sorted by set and record.
    pub fn new(publishing: Publishing, input: Arc<dyn ExecutionPlan>, links: Links) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema()),
            input.output_partitioning().clone().into_unknown(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            publishing: Arc::new(publishing),
            input,
            links,
            properties: Arc::new(properties),
        }
    }

    /// What is published.
    pub fn publishing(&self) -> &Publishing {
        &self.publishing
    }
}

/// As many partitions, of which nothing is known: the columns are others.
trait IntoUnknown {
    fn into_unknown(self) -> Self;
}

impl IntoUnknown for datafusion::physical_plan::Partitioning {
    fn into_unknown(self) -> Self {
        Self::UnknownPartitioning(self.partition_count())
    }
}

impl DisplayAs for LeafExec {
    fn fmt_as(&self, _: DisplayFormatType, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "LeafExec: {} sets", self.publishing.places.len())
    }
}

impl ExecutionPlan for LeafExec {
    fn name(&self) -> &str {
        "LeafExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop();
        let input = input.ok_or_else(|| DataFusionError::Plan("no rows to publish".into()))?;
        Ok(Arc::new(Self::new(
            self.publishing.as_ref().clone(),
            input,
            self.links.clone(),
        )))
    }

    fn execute(&self, at: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(at, context)?;
        let mut stream = RecordBatchReceiverStream::builder(schema(), 2);
        let publisher = Publisher {
            publishing: Arc::clone(&self.publishing),
            links: self.links.clone(),
            answers: stream.tx(),
        };
        stream.spawn(publisher.publish_all(rows));
        Ok(stream.build())
    }
}

/// Raises the flag when nobody waits any more: the task that holds it is dropped.
struct StopOnDrop(CancelFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

struct Publisher {
    publishing: Arc<Publishing>,
    links: Links,
    answers: Sender<Result<RecordBatch>>,
}

/// Rows of one set, as they come.
#[derive(Default)]
struct Gathering {
    set: Option<SetNumber>,
    columns: Vec<(BoardColumn, Vec<u32>)>,
}

fn told(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl Publisher {
    async fn publish_all(self, mut rows: SendableRecordBatchStream) -> Result<()> {
        let mut order = None;
        let mut gathering = Gathering::default();
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            let sets = numbers(&batch, 0)?;
            let mut from = 0;
            for run in sets.chunk_by(|one, other| one == other) {
                if gathering.set.is_some_and(|set| set != run[0]) {
                    let whole = std::mem::take(&mut gathering);
                    self.publish(whole, &mut order).await?;
                }
                gathering.add(&batch, (run[0], from..from + run.len()))?;
                from += run.len();
            }
        }
        self.publish(gathering, &mut order).await
    }

    /// Publishes one set; the order is asked for before the first.
    async fn publish(&self, rows: Gathering, order: &mut Option<Arc<OpenOrder>>) -> Result<()> {
        let Some(set) = rows.set else {
            return Ok(());
        };
        let place = self
            .publishing
            .places
            .binary_search_by_key(&set, |(set, _)| *set);
        let unfit = |_| DataFusionError::Execution("a set that nobody asked for".into());
        let (_, place) = self.publishing.places[place.map_err(unfit)?];
        let mut client = client(&self.links, &self.publishing.board).await?;
        let order = match order {
            Some(order) => Arc::clone(order),
            None => {
                let bytes = ask(&mut client, &self.publishing.board, ORDER)
                    .await
                    .map_err(told)?;
                let read: TableOrder = serde_json::from_slice(&bytes).map_err(told)?;
                Arc::clone(order.insert(Arc::new(Engine::open(read).map_err(told)?)))
            }
        };
        let stop = StopOnDrop(CancelFlag::default());
        let flag = stop.0.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            let watched = (&Silent as &_, &flag);
            let answer = flag.run(|| order.publish(place, &BoardRows(rows.columns), watched));
            let answer = answer.map_err(|_| EngineError::Cancelled)?;
            answer.map(|answer| serde_json::to_vec(&answer))
        });
        let answer = loop {
            tokio::select! {
                answer = &mut work => break answer,
                () = tokio::time::sleep(WATCH_INTERVAL) => {
                    let is_there = ask(&mut client, &self.publishing.board, IS_THERE).await;
                    if is_there.is_err_and(|status| status.code() == Code::NotFound) {
                        stop.0.cancel();
                    }
                }
            }
        };
        let answer = answer.map_err(told)?.map_err(told)?.map_err(told)?;
        self.send(set, &zstd::bulk::compress(&answer, LEVEL)?).await
    }

    async fn send(&self, set: SetNumber, answer: &[u8]) -> Result<()> {
        for (number, chunk) in (0_u32..).zip(answer.chunks(CHUNK_BYTES)) {
            let batch = RecordBatch::try_new(
                schema(),
                vec![
                    Arc::new(UInt32Array::from(vec![set])),
                    Arc::new(UInt32Array::from(vec![number])),
                    Arc::new(BinaryArray::from(vec![chunk])),
                ],
            )?;
            // Nobody may be waiting any more; then the answer is not wanted.
            if self.answers.send(Ok(batch)).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

fn numbers(batch: &RecordBatch, at: usize) -> Result<&[u32]> {
    let column = batch.columns().get(at);
    let column = column.and_then(|column| column.as_any().downcast_ref::<UInt32Array>());
    let unfit = || DataFusionError::Execution("rows to publish are no numbers".into());
    Ok(&column.ok_or_else(unfit)?.values()[..])
}

impl Gathering {
    fn add(
        &mut self,
        batch: &RecordBatch,
        (set, rows): (SetNumber, std::ops::Range<usize>),
    ) -> Result<()> {
        if self.set.is_none() {
            self.set = Some(set);
            let schema = batch.schema();
            let columns = schema.fields().iter().skip(1).map(|field| {
                let column: BoardColumn = field.name().parse().map_err(told)?;
                Ok::<_, DataFusionError>((column, Vec::new()))
            });
            self.columns = columns.collect::<Result<_>>()?;
        }
        for (at, (_, column)) in self.columns.iter_mut().enumerate() {
            column.extend_from_slice(&numbers(batch, at + 1)?[rows.clone()]);
        }
        Ok(())
    }
}
