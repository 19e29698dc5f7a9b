//! How much memory a job is estimated to need.
//!
//! The API refuses a job that could never run, and a worker lets a job wait
//! until its estimate fits beside those that run. Both ask here. An estimate
//! that is too low ends in a killed process, one that is too high in a job
//! that waits: so it lies above what was measured.

use vizard_anonymizer::microdata::TextSize;

/// What an estimate is made from.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobSize {
    /// Records of the version.
    pub records: u64,
    /// Attributes of its schema.
    pub attributes: u64,
    /// Bytes of text in the version.
    pub text: TextSize,
    /// Subjects that have terms.
    pub preferences: u64,
    /// Combinations of the population table.
    pub population_combinations: u64,
}

/// Bytes that a job of this size is estimated to need: the coded table with its
/// labels, the engine's working columns, the release as packed text and as read
/// back by the verifier; and the process itself, which a job may be alone in.
///
/// Measured on made-up tables of nine attributes with `lgb`, the engine that
/// needs most: 47 MB for 50,000 records, 170 MB for 200,000, 516 MB for
/// 800,000, and 16 MB more for the terms of 100,000 subjects. On 30,000 records
/// with three texts of 4,000 bytes each, all different, 1,434 MiB with `mondrian`;
/// `faults job_memory` measures random tables.
pub fn estimate_bytes(size: &JobSize) -> u64 {
    const PER_JOB_BYTES: u64 = 80 << 20;
    const PER_CELL_BYTES: u64 = 48;
    const PER_RECORD_BYTES: u64 = 256;
    const PER_PREFERENCE_BYTES: u64 = 192;
    const PER_TEXT_BYTE: u64 = 3;
    let cells = size.attributes.saturating_mul(PER_CELL_BYTES);
    let per_record = cells.saturating_add(PER_RECORD_BYTES);
    let text = size.text.cells_bytes.saturating_add(size.text.labels_bytes);
    PER_JOB_BYTES
        .saturating_add(size.records.saturating_mul(per_record))
        .saturating_add(size.preferences.saturating_mul(PER_PREFERENCE_BYTES))
        .saturating_add(text.saturating_mul(PER_TEXT_BYTE))
        .saturating_add(population_table_bytes(size.population_combinations))
}

/// Bytes that a population table of so many combinations is estimated to need,
/// unpacked and compared.
pub fn population_table_bytes(combinations: u64) -> u64 {
    const PER_COMBINATION_BYTES: u64 = 384;
    combinations.saturating_mul(PER_COMBINATION_BYTES)
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
            let estimate = estimate_bytes(&JobSize {
                records,
                attributes: 9,
                preferences,
                ..JobSize::default()
            });
            assert!(measured < estimate && estimate < 2 * measured, "{estimate}");
        }
    }

    #[test]
    fn no_table_is_too_large_to_be_estimated() {
        let most = JobSize {
            records: u64::MAX,
            attributes: u64::MAX,
            text: TextSize {
                cells_bytes: u64::MAX,
                labels_bytes: u64::MAX,
            },
            preferences: u64::MAX,
            population_combinations: u64::MAX,
        };
        assert_eq!(estimate_bytes(&most), u64::MAX);
    }
}
