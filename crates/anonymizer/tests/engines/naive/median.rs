//! The lower median and the cut that it gives, by sorting.

/// Codes that go left: those up to the lower median, or, where that would be
/// all, those below it. `None` if all codes are equal.
pub fn left_codes(codes: &[u32]) -> Option<Vec<u32>> {
    let mut sorted = codes.to_vec();
    sorted.sort_unstable();
    let median = sorted[(sorted.len() - 1) / 2];
    let upto: Vec<u32> = sorted
        .iter()
        .copied()
        .filter(|&code| code <= median)
        .collect();
    if upto.len() < sorted.len() {
        return Some(upto);
    }
    let below: Vec<u32> = sorted
        .iter()
        .copied()
        .filter(|&code| code < median)
        .collect();
    (!below.is_empty()).then_some(below)
}
