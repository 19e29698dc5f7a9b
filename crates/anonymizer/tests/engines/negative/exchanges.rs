//! Corruptions that exchange cells between buckets, with rows and the table
//! of buckets agreeing about it: only the claim about buckets is broken.

use rand::RngExt;
use vizard_anonymizer::microdata::Code;

use super::buckets::{contents, diverse, members, refill};
use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "exchange cells so that a value is in a bucket twice",
            &["l_diversity"],
            exchange_to_double,
        ),
        corruption(
            "exchange cells until a bucket holds one value",
            &["t_closeness"],
            exchange_to_single,
        ),
        corruption(
            "narrow a bucket below its spread",
            &["min_spread"],
            narrow_spread,
        ),
    ]
}

/// A cell is exchanged for one of another bucket whose value the first
/// bucket holds already; rows and table agree.
fn exchange_to_double(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    let contents = contents(case, name, &members);
    let mut pairs = Vec::new();
    for (a, &(row, bucket)) in members.iter().enumerate() {
        for (b, &(other, elsewhere)) in members.iter().enumerate() {
            let (own, new) = (case.code(name, row), case.code(name, other));
            if bucket != elsewhere && own != new && contents[&bucket].contains_key(&new) {
                pairs.push((a, b));
            }
        }
    }
    let Some((a, b)) = any(&pairs, random) else {
        return Done::Skip;
    };
    (members[a].1, members[b].1) = (members[b].1, members[a].1);
    refill(case, name, &members);
    Done::Seal
}

/// Sex has two values; the first bucket takes all it can hold of one.
fn exchange_to_single(case: &mut Case, random: &mut Random) -> Done {
    let Some(mut members) = members(case, "sex") else {
        return Done::Skip;
    };
    let wanted = Code(random.random_range(0..2));
    let size = members.iter().filter(|member| member.1 == 1).count();
    let has = |member: &(usize, u64)| case.code("sex", member.0) == wanted;
    if members.iter().filter(|member| has(member)).count() < size {
        return Done::Skip;
    }
    loop {
        let out = members
            .iter()
            .position(|member| member.1 == 1 && !has(member));
        let Some(out) = out else { break };
        let into = members
            .iter()
            .position(|member| member.1 != 1 && has(member))
            .unwrap();
        (members[out].1, members[into].1) = (members[into].1, members[out].1);
    }
    refill(case, "sex", &members);
    Done::Seal
}

/// Four salaries within 3,000 of each other, each once, make the first
/// bucket; the cells that they replace go where they came from.
fn narrow_spread(case: &mut Case, _: &mut Random) -> Done {
    let Some(mut members) = members(case, "salary") else {
        return Done::Skip;
    };
    let size = members.iter().filter(|member| member.1 == 1).count();
    let number =
        |member: &(usize, u64)| case.domain("salary").number(case.code("salary", member.0));
    let mut sorted: Vec<usize> = (0..members.len()).collect();
    sorted.sort_by(|&a, &b| number(&members[a]).total_cmp(&number(&members[b])));
    sorted.dedup_by(|a, b| number(&members[*a]) == number(&members[*b]));
    let near =
        |run: &&[usize]| number(&members[run[size - 1]]) - number(&members[run[0]]) < 3_000.0;
    let Some(run) = sorted.windows(size).find(near) else {
        return Done::Skip;
    };
    for &into in run {
        if members[into].1 == 1 {
            continue;
        }
        let out = (0..members.len())
            .find(|&at| members[at].1 == 1 && !run.contains(&at))
            .unwrap();
        (members[out].1, members[into].1) = (members[into].1, members[out].1);
    }
    refill(case, "salary", &members);
    Done::Seal
}
