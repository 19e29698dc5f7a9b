//! Boards: tables as numbers, kept by the process that has the table, and served to
//! executors over Arrow Flight.
//!
//! Executors share no disk with each other or with the worker, and an object store
//! would keep what is personal longer than the job. So the worker serves the rows
//! itself, under a random name: the same certificates, and gone when the job is.
//! What does not fit memory lies in files without a name.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, Result as ActionResult, SchemaResult,
    Ticket,
};
use datafusion::arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use rand::TryRng;
use serde::{Deserialize, Serialize};
use tonic::{Request, Response, Status, Streaming};
use vizard_anonymizer::catalog::elsewhere::{Board, BoardColumn, BoardRows, TableOrder};

/// Rows of a board that are handed on at a time.
const BATCH_ROWS: usize = 8192;

/// Bytes of an order that are handed on at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Asks for the order of a board.
pub const ORDER: &str = "order";

/// Asks whether a board is there.
pub const IS_THERE: &str = "is-there";

/// Names a board, and says what there is on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardName {
    /// `host:port` of the process that has it.
    pub address: String,
    /// Its name there.
    pub id: String,
    /// How many pieces its rows are in.
    pub pieces: usize,
    /// Its columns.
    pub columns: Vec<BoardColumn>,
}

/// Asks for columns of one piece of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceTicket {
    /// The board.
    pub id: String,
    /// The piece.
    pub piece: usize,
    /// The columns, in the order that is wanted.
    pub columns: Vec<BoardColumn>,
}

/// The schema of these columns.
pub fn schema_of(columns: &[BoardColumn]) -> SchemaRef {
    let fields = columns.iter();
    let fields = fields.map(|column| Field::new(column.to_string(), DataType::UInt32, false));
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

/// The boards of this process.
#[derive(Clone, Debug, Default)]
pub struct Boards(Arc<Mutex<HashMap<String, Arc<KeptBoard>>>>);

#[derive(Debug)]
struct KeptBoard {
    order: Vec<u8>,
    columns: Vec<BoardColumn>,
    pieces: Vec<File>,
}

/// A board that is served until this is dropped.
#[derive(Debug)]
pub struct ServedBoard {
    boards: Boards,
    id: String,
}

impl ServedBoard {
    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for ServedBoard {
    fn drop(&mut self) {
        self.boards.all().remove(&self.id);
    }
}

impl Boards {
    /// Keeps a table and serves it.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn keep(
        &self,
        board: &Board<'_>,
        order: &TableOrder,
        pieces: usize,
    ) -> io::Result<ServedBoard> {
        let mut bytes = [0_u8; 16];
        rand::rngs::SysRng
            .try_fill_bytes(&mut bytes)
            .map_err(io::Error::other)?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let rows = board.rows();
        let bound = |piece: usize| rows * piece / pieces;
        let files = (0..pieces).map(|piece| write_piece(board, bound(piece)..bound(piece + 1)));
        let kept = KeptBoard {
            order: serde_json::to_vec(order)?,
            columns: board.columns(),
            pieces: files.collect::<io::Result<_>>()?,
        };
        self.all().insert(id.clone(), Arc::new(kept));
        Ok(ServedBoard {
            boards: self.clone(),
            id,
        })
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.all().len()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<KeptBoard>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<Arc<KeptBoard>, Status> {
        let found = self.all().get(id).cloned();
        found.ok_or_else(|| Status::not_found("no such board"))
    }

    /// What serves them.
    pub fn service(&self) -> FlightServiceServer<BoardService> {
        FlightServiceServer::new(BoardService(self.clone()))
    }
}

fn write_piece(board: &Board<'_>, mut rows: std::ops::Range<usize>) -> io::Result<File> {
    let arrow = |error: ArrowError| io::Error::other(error);
    let schema = schema_of(&board.columns());
    let mut file = tempfile::tempfile()?;
    let mut writer = StreamWriter::try_new(&mut file, &schema).map_err(arrow)?;
    while !rows.is_empty() {
        let end = rows.end.min(rows.start + BATCH_ROWS);
        let BoardRows(columns) = board.some_rows(rows.start..end);
        let columns = columns.into_iter();
        let columns: Vec<ArrayRef> = columns
            .map(|(_, numbers)| Arc::new(UInt32Array::from(numbers)) as ArrayRef)
            .collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(arrow)?;
        writer.write(&batch).map_err(arrow)?;
        rows.start = end;
    }
    writer.finish().map_err(arrow)?;
    drop(writer);
    file.flush()?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// A file from its beginning, by a position of one's own.
struct FromBeginning {
    board: Arc<KeptBoard>,
    piece: usize,
    position: u64,
}

impl Read for FromBeginning {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.board.pieces[self.piece].read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Serves boards: pieces by `DoGet`, orders by `DoAction`.
#[derive(Debug)]
pub struct BoardService(Boards);

type Served<T> = Pin<Box<dyn futures::Stream<Item = Result<T, Status>> + Send>>;

fn not_served<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented(
        "boards are read by DoGet and DoAction",
    ))
}

impl BoardService {
    fn piece(&self, ticket: &PieceTicket) -> Result<BoxStream<'static, FlightResult>, Status> {
        let board = self.0.find(&ticket.id)?;
        let wanted = ticket.columns.iter();
        let positions = wanted.map(|column| board.columns.iter().position(|own| own == column));
        let positions: Option<Vec<usize>> = positions.collect();
        let (Some(positions), true) = (positions, ticket.piece < board.pieces.len()) else {
            return Err(Status::invalid_argument("no such piece or column"));
        };
        let reader = BufReader::new(FromBeginning {
            board,
            piece: ticket.piece,
            position: 0,
        });
        let reader = StreamReader::try_new(reader, None);
        let reader = reader.map_err(|_| Status::internal("a board cannot be read"))?;
        // A batch is read at a time, of a file that was just written.
        let batches = stream::iter(reader.map(move |batch| batch?.project(&positions)));
        Ok(batches.map_err(Into::into).boxed())
    }
}

type FlightResult = Result<RecordBatch, arrow_flight::error::FlightError>;

#[tonic::async_trait]
impl FlightService for BoardService {
    type HandshakeStream = Served<HandshakeResponse>;
    type ListFlightsStream = Served<FlightInfo>;
    type DoGetStream = Served<FlightData>;
    type DoPutStream = Served<PutResult>;
    type DoActionStream = Served<ActionResult>;
    type ListActionsStream = Served<ActionType>;
    type DoExchangeStream = Served<FlightData>;

    async fn do_get(
        &self,
        request: Request<Ticket>,
    ) -> Result<Response<Served<FlightData>>, Status> {
        let ticket = serde_json::from_slice(&request.into_inner().ticket);
        let ticket: PieceTicket = ticket.map_err(|_| Status::invalid_argument("no ticket"))?;
        let encoded = FlightDataEncoderBuilder::new()
            .with_schema(schema_of(&ticket.columns))
            .build(self.piece(&ticket)?);
        Ok(Response::new(Box::pin(encoded.map_err(Status::from))))
    }

    async fn do_action(
        &self,
        request: Request<Action>,
    ) -> Result<Response<Served<ActionResult>>, Status> {
        let Action { r#type, body } = request.into_inner();
        let id = std::str::from_utf8(&body).map_err(|_| Status::not_found("no such board"))?;
        let board = self.0.find(id)?;
        let chunks: Vec<ActionResult> = match r#type.as_str() {
            ORDER => board
                .order
                .chunks(CHUNK_BYTES)
                .map(|chunk| ActionResult {
                    body: chunk.to_vec().into(),
                })
                .collect(),
            IS_THERE => Vec::new(),
            _ => return not_served(),
        };
        Ok(Response::new(Box::pin(stream::iter(
            chunks.into_iter().map(Ok),
        ))))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        not_served()
    }

    async fn list_flights(
        &self,
        _: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        not_served()
    }

    async fn get_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        not_served()
    }

    async fn poll_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        not_served()
    }

    async fn get_schema(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        not_served()
    }

    async fn do_put(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        not_served()
    }

    async fn list_actions(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        not_served()
    }

    async fn do_exchange(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        not_served()
    }
}
