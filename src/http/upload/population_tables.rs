//! Population tables: a body that is judged as a whole before anything is kept.

use std::sync::Arc;

use axum::body::Body;
use vizard_anonymizer::microdata::{PopulationTable, Schema};

use super::body_reader::BodyReader;
use super::streamed::{ReadError, streamed};
use crate::config::Limits;
use crate::http::coding::{ContentCoding, Growth, Inflater};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::shares::Share;
use crate::http::state::AppState;

/// A table, and its packed canonical text.
pub type ReceivedTable = (PopulationTable, Vec<u8>);

/// Reads a population table to its end, in the dialect of `schema`. The share
/// counts until the thread that reads it is done.
pub async fn receive_population_table(
    state: &AppState,
    body: Body,
    (schema, coding): (Schema, ContentCoding),
    share: Arc<Share>,
) -> Result<ReceivedTable, Problem> {
    let limits = state.settings.limits;
    let bytes_max = limits.population_bytes_max();
    let work = move |reader| {
        let _share = share;
        read(reader, (&schema, coding), &limits)
    };
    let received = streamed(state, body, bytes_max, work).await?;
    received.map_err(|error| error.problem(&limits, (ProblemKind::InvalidData, bytes_max)))
}

fn read(
    body: BodyReader,
    (schema, coding): (&Schema, ContentCoding),
    limits: &Limits,
) -> Result<ReceivedTable, ReadError> {
    let growth = Growth {
        ratio_max: limits.inflation_ratio_max,
        bytes_max: limits.population_bytes_max,
    };
    let body = Inflater::new(body, coding, growth).map_err(ReadError::SpillFile)?;
    let fault = body.fault();
    let combinations_max = limits.population_combinations_max;
    let read = PopulationTable::read(body, schema, &limits.of_records(), combinations_max);
    if let Some(&fault) = fault.get() {
        return Err(ReadError::Packing(fault));
    }
    let table = read?;
    let packed = table.pack().map_err(ReadError::SpillFile)?;
    Ok((table, packed))
}
