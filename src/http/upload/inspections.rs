//! Inspections: a body in a temporary file, looked at, and forgotten.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use axum::body::Body;
use vizard_anonymizer::catalog::JobProposal;
use vizard_anonymizer::inspect::{
    InspectError, InspectLimits, Inspection, inspect, inspect_parquet, is_parquet,
};
use vizard_anonymizer::microdata::TableError;

use super::spool::{BodyFault, spool_body};
use super::streamed::{ReadError, streamed};
use crate::config::Limit;
use crate::http::coding::{ContentCoding, Growth, Inflater};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::shares::Share;
use crate::http::state::AppState;
use crate::spill_file::SpillFile;

/// Bytes of a file that are looked at; a body of so many is taken for the
/// beginning of a longer one.
pub const INSPECTED_BYTES_MAX: u64 = 64 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// Inspects a body, and proposes a job for each purpose; `name` becomes that of
/// the proposed dataset.
pub async fn inspect_body(
    state: &AppState,
    body: Body,
    (name, coding): (String, ContentCoding),
    share: Share,
) -> Result<(Inspection, Vec<JobProposal>), Problem> {
    let limits = &state.settings.limits;
    let upload = limits.upload_bytes_max();
    let bytes_max = Limit {
        value: upload.value.min(INSPECTED_BYTES_MAX),
        ..upload
    };
    let growth = Growth {
        ratio_max: limits.inflation_ratio_max,
        bytes_max: bytes_max.value,
    };
    let own = InspectLimits {
        read: limits.of_records(),
        values_max: 1 << 19,
        unique_max: 4 << 20,
        ..InspectLimits::default()
    };
    let share = Arc::new(share);
    let purposes = state.settings.purposes.clone();
    let work = move |reader| {
        let _share = share;
        let mut body = Inflater::new(reader, coding, growth).map_err(ReadError::SpillFile)?;
        let fault = body.fault();
        let spooled = spool_body(&mut body);
        if let Some(&fault) = fault.get() {
            return Err(ReadError::Packing(fault));
        }
        let mut file = match spooled {
            Ok(file) => file,
            Err(BodyFault::Body(error)) => {
                return Err(TableError::Read(error.kind().to_string()).into());
            }
            Err(BodyFault::SpillFile(error)) => return Err(ReadError::SpillFile(error)),
        };
        std::io::Seek::rewind(&mut file).map_err(ReadError::SpillFile)?;
        let length = file.metadata().map_err(ReadError::SpillFile)?.len();
        let is_cut = length == bytes_max.value;
        Ok(
            look_into(file, (&name, is_cut), &own)?.map(|mut inspection| {
                // No dataset has such keys.
                inspection.schema = inspection.schema.filter(|schema| !schema.has_row_keys());
                let jobs = purposes.jobs_for(&inspection);
                (inspection, jobs)
            }),
        )
    };
    let inspected = streamed(state, body, bytes_max, work).await?;
    let kind = ProblemKind::InvalidData;
    let inspected = inspected.map_err(|error| error.problem(limits, (kind, bytes_max)))?;
    inspected.map_err(|error| match error {
        InspectError::NoTable(what) => Problem::new(kind, what),
        InspectError::Table(error) => ReadError::Table(error).problem(limits, (kind, bytes_max)),
    })
}

/// Inspects a file of whatever form.
fn look_into(
    mut file: File,
    (name, is_cut): (&str, bool),
    limits: &InspectLimits,
) -> Result<Result<Inspection, InspectError>, ReadError> {
    // What is cut has no end that says what its columns are.
    if is_cut || !is_parquet(&mut file).map_err(ReadError::SpillFile)? {
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        return Ok(inspect(file, (name, is_cut), limits));
    }
    let mut room = SpillFile::new().map_err(ReadError::SpillFile)?;
    let inspected = inspect_parquet(file, name, &mut room, limits);
    match room.failure() {
        Some(error) => Err(ReadError::SpillFile(error)),
        None => Ok(inspected),
    }
}
