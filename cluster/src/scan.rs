//! Reads a board, and says of each row which set it is in.
//!
//! The pieces that are read come as rows, one each. A step that reads by itself would be
//! run as a whole by every task: Ballista deals out the partitions of sources that it
//! knows, and of no others.
//!
//! The set is worked out here, by all cuts that were made, and not by an expression:
//! a `CASE` within a `CASE` for each level of the outline is deeper than what protocol
//! buffers may be nested.

use std::fmt;
use std::sync::Arc;

use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{Action, Ticket};
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties,
};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use tonic::transport::Channel;
use vizard_anonymizer::catalog::elsewhere::BoardColumn;
use vizard_anonymizer::engine::kernel::outline::SetNumber;

use crate::boards::{BoardName, PieceTicket, schema_of};
use crate::links::Links;
use crate::sets::{CutBy, Cuts, come_to_an_end};

/// Name of the column with the set of each row.
pub const SET: &str = "set";

/// What is read of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The board.
    pub board: BoardName,
    /// The columns that follow the set.
    pub columns: Vec<BoardColumn>,
    /// Whether rows are left out that do not stand for their subject.
    pub counted_only: bool,
    /// All cuts that were made.
    pub cuts: Vec<CutBy>,
    /// The sets whose rows are read.
    pub sets: Vec<SetNumber>,
    /// Cuts of them that are tried: the side is told in the place of the set. Nothing:
    /// none is tried.
    pub tried: Vec<CutBy>,
}

impl Reading {
    /// The set and the columns behind it.
    pub fn schema(&self) -> SchemaRef {
        let set = Field::new(SET, DataType::UInt32, false);
        let columns = schema_of(&self.columns);
        let columns = columns.fields().iter().map(|field| field.as_ref().clone());
        Arc::new(Schema::new(
            std::iter::once(set).chain(columns).collect::<Vec<Field>>(),
        ))
    }

    /// All columns that are needed, those that are read first.
    fn needed(&self) -> Vec<BoardColumn> {
        let mut needed = self.columns.clone();
        let cut_by = self.cuts.iter().chain(&self.tried).map(|cut| cut.column);
        let counted = self.counted_only.then_some(BoardColumn::Counted);
        for column in cut_by.chain(counted) {
            if !needed.contains(&column) {
                needed.push(column);
            }
        }
        // Something must be read for rows to be told.
        if needed.is_empty() {
            needed.push(BoardColumn::Record);
        }
        needed
    }

    /// The rows of a batch of all needed columns that are wanted, with their sets.
    fn read(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let numbers = |column: BoardColumn| {
            let column = batch.column_by_name(&column.to_string())?;
            let column = column.as_any().downcast_ref::<UInt32Array>()?;
            Some(&column.values()[..])
        };
        let unfit = || DataFusionError::Execution("a board has other columns".into());
        let cuts = Cuts::of(&self.cuts, numbers).ok_or_else(unfit)?;
        let tried = Cuts::of(&self.tried, numbers).ok_or_else(unfit)?;
        let counted = if self.counted_only {
            Some(numbers(BoardColumn::Counted).ok_or_else(unfit)?)
        } else {
            None
        };
        let (mut rows, mut sets) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            if counted.is_some_and(|counted| counted[row] != 1) {
                continue;
            }
            let set = cuts.set(row);
            if self.sets.binary_search(&set).is_err() {
                continue;
            }
            let told = if self.tried.is_empty() {
                Some(set)
            } else {
                tried.side(set, row)
            };
            if let Some(told) = told {
                rows.push(row as u32);
                sets.push(told);
            }
        }
        let rows = UInt32Array::from(rows);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(sets))];
        for column in batch.columns().iter().take(self.columns.len()) {
            columns.push(take(column, &rows, None)?);
        }
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

/// Asks the process that has a board.
pub async fn client(links: &Links, board: &BoardName) -> Result<FlightServiceClient<Channel>> {
    let channel = links.connect(&board.address).await;
    let channel = channel.map_err(|error| DataFusionError::External(Box::new(error)))?;
    Ok(FlightServiceClient::new(channel))
}

/// Asks for something of a board, and answers its bytes.
///
/// # Errors
/// Nobody is there, or there is no such board.
pub async fn ask(
    client: &mut FlightServiceClient<Channel>,
    board: &BoardName,
    what: &str,
) -> std::result::Result<Vec<u8>, tonic::Status> {
    let action = Action {
        r#type: what.into(),
        body: board.id.clone().into(),
    };
    let mut answer = client.do_action(action).await?.into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.message().await? {
        bytes.extend_from_slice(&chunk.body);
    }
    Ok(bytes)
}

/// Name of the column with the numbers of pieces.
const PIECE: &str = "piece";

/// Each piece of a board as one row of a partition of its own.
///
/// # Errors
/// Never: the rows are sound.
pub fn pieces(board: &BoardName) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = Arc::new(Schema::new(vec![Field::new(
        PIECE,
        DataType::UInt32,
        false,
    )]));
    let rows = (0..board.pieces as u32).map(|piece| {
        let piece: ArrayRef = Arc::new(UInt32Array::from(vec![piece]));
        Ok(vec![RecordBatch::try_new(
            Arc::clone(&schema),
            vec![piece],
        )?])
    });
    let rows = rows.collect::<Result<Vec<Vec<RecordBatch>>>>()?;
    Ok(MemorySourceConfig::try_new_exec(&rows, schema, None)?)
}

/// Reads pieces of a board.
#[derive(Debug)]
pub struct ScanExec {
    reading: Arc<Reading>,
    pieces: Arc<dyn ExecutionPlan>,
    links: Links,
    properties: Arc<PlanProperties>,
}

impl ScanExec {
    /// Reads this of the pieces that come.
    ///
    /// # Errors
    /// Its cuts follow each other in a circle.
    pub fn new(reading: Reading, pieces: Arc<dyn ExecutionPlan>, links: Links) -> Result<Self> {
        if !come_to_an_end(&reading.cuts) {
            return Err(DataFusionError::Plan("cuts have no end".into()));
        }
        let properties = PlanProperties::new(
            EquivalenceProperties::new(reading.schema()),
            Partitioning::UnknownPartitioning(pieces.output_partitioning().partition_count()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            reading: Arc::new(reading),
            pieces,
            links,
            properties: Arc::new(properties),
        })
    }

    /// What is read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _: DisplayFormatType, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "ScanExec: {} sets", self.reading.sets.len())
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &str {
        "ScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.pieces]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
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
        let pieces = children.pop();
        let pieces = pieces.ok_or_else(|| DataFusionError::Plan("no pieces to read".into()))?;
        Ok(Arc::new(Self::new(
            self.reading.as_ref().clone(),
            pieces,
            self.links.clone(),
        )?))
    }

    fn execute(&self, at: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let pieces = self.pieces.execute(at, context)?;
        let (reading, links) = (Arc::clone(&self.reading), self.links.clone());
        let pieces = pieces.map_ok(|batch| {
            let numbers = batch.column(0).as_any().downcast_ref::<UInt32Array>();
            let numbers = numbers.map_or_else(Vec::new, |numbers| numbers.values().to_vec());
            stream::iter(numbers.into_iter().map(Ok::<u32, DataFusionError>))
        });
        let rows = pieces.try_flatten().and_then(move |piece| {
            let (reading, links) = (Arc::clone(&reading), links.clone());
            async move { read_piece(reading, &links, piece as usize).await }
        });
        let rows = rows.try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.reading.schema(),
            rows,
        )))
    }
}

/// The rows of one piece.
async fn read_piece(
    reading: Arc<Reading>,
    links: &Links,
    piece: usize,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let mut client = client(links, &reading.board).await?;
    let ticket = PieceTicket {
        id: reading.board.id.clone(),
        piece,
        columns: reading.needed(),
    };
    let ticket = serde_json::to_vec(&ticket);
    let ticket = ticket.map_err(|error| DataFusionError::External(Box::new(error)))?;
    let ticket = Ticket {
        ticket: ticket.into(),
    };
    let told = |error: FlightError| DataFusionError::External(Box::new(error));
    let rows = client.do_get(ticket).await;
    let rows = rows.map_err(|status| told(FlightError::from(status)))?;
    let rows = rows.into_inner().map_err(FlightError::from);
    let rows = FlightRecordBatchStream::new_from_flight_data(rows).map_err(told);
    Ok(rows.map(move |batch| reading.read(&batch?)).boxed())
}
