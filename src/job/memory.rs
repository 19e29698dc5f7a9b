//! How much memory a job is estimated to need.
//!
//! The API refuses a job that could never run, and a worker lets a job wait
//! until its estimate fits beside those that run. Both ask here. An estimate
//! that is too low ends in a killed process, one that is too high in a job
//! that waits: so it lies above what was measured.

/// Bytes that a job is estimated to need on `records` × `attributes`, with the
/// terms of so many subjects: the coded table, the engine's working columns,
/// the release as text and as read back by the verifier.
///
/// Measured on made-up tables of nine attributes with `lgb`, the engine that
/// needs most: 47 MB for 50,000 records, 170 MB for 200,000, 516 MB for
/// 800,000, and 16 MB more for the terms of 100,000 subjects; rounded up.
pub fn estimate_bytes(records: u64, attributes: u64, preferences: u64) -> u64 {
    const PER_JOB_BYTES: u64 = 64 << 20;
    const PER_CELL_BYTES: u64 = 48;
    const PER_RECORD_BYTES: u64 = 256;
    const PER_PREFERENCE_BYTES: u64 = 192;
    let cells = attributes.saturating_mul(PER_CELL_BYTES);
    let per_record = cells.saturating_add(PER_RECORD_BYTES);
    PER_JOB_BYTES
        .saturating_add(records.saturating_mul(per_record))
        .saturating_add(preferences.saturating_mul(PER_PREFERENCE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_lies_above_what_was_measured_and_not_far() {
        const MB: u64 = 1_000_000;
        for (records, preferences, measured) in [
            (200_000, 0, 170 * MB),
            (200_000, 100_000, 186 * MB),
            (800_000, 0, 516 * MB),
        ] {
            let estimate = estimate_bytes(records, 9, preferences);
            assert!(measured < estimate && estimate < 2 * measured, "{estimate}");
        }
    }

    #[test]
    fn no_table_is_too_large_to_be_estimated() {
        assert_eq!(estimate_bytes(u64::MAX, u64::MAX, u64::MAX), u64::MAX);
    }
}
