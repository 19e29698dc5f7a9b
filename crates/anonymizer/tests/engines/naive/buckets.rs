//! Whether buckets exist at all, by trying every way to make them.

/// Whether cells, `counts[v]` of value v, can be divided into buckets of at
/// least `l` cells with every value at most once.
///
/// The largest value count says how many buckets there are at least; every
/// bucket is one subset of the remaining values. Exponential: a handful of
/// cells only.
pub fn exist(counts: &[u32], l: u32) -> bool {
    let Some(first) = counts.iter().position(|&count| count > 0) else {
        return true;
    };
    // Some bucket holds a cell of the first remaining value: try all.
    let others: Vec<usize> = (first + 1..counts.len())
        .filter(|&v| counts[v] > 0)
        .collect();
    (0..1_u32 << others.len()).any(|chosen| {
        if chosen.count_ones() + 1 < l {
            return false;
        }
        let mut rest = counts.to_vec();
        rest[first] -= 1;
        for (at, &value) in others.iter().enumerate() {
            rest[value] -= chosen >> at & 1;
        }
        exist(&rest, l)
    })
}

/// The largest least spread that buckets of at least `l` distinct numbers can
/// have; `None` where no buckets exist. Exponential.
pub fn widest_spread(numbers: &[i64], l: usize) -> Option<i64> {
    let Some((&lowest, rest)) = numbers.split_first() else {
        return Some(i64::MAX);
    };
    // `numbers` ascend, so the first is the lowest of its bucket.
    let mut best: Option<i64> = None;
    for chosen in 0..1_u32 << rest.len() {
        let bucket: Vec<i64> = pick(rest, chosen);
        let mut all = vec![lowest];
        all.extend(&bucket);
        if all.len() < l || all.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let own = all[all.len() - 1] - lowest;
        if let Some(others) = widest_spread(&pick(rest, !chosen), l) {
            best = best.max(Some(own.min(others)));
        }
    }
    best
}

fn pick(numbers: &[i64], chosen: u32) -> Vec<i64> {
    let all = numbers.iter().enumerate();
    all.filter(|(at, _)| chosen >> at & 1 == 1)
        .map(|(_, &number)| number)
        .collect()
}
