//! Step 1: clusters of at least K persons that lie near each other.
//!
//! A cluster begins with one person and draws in, one by one, the person who
//! adds least to the loss of its box, until it has K members: the strictest k of
//! the job and of those in it (`[RMR]` cluster formation). Persons who ask for
//! more than the job begin first, the strictest before others, so that nobody
//! else's cluster has to grow for them. Others follow in the order of the
//! index, so that those who are passed over stay together. When fewer
//! than K remain, each joins the cluster whose loss grows least.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;

use super::bounds::{Probe, RowLayout};
use super::index::Index;

/// Progress is reported and cancellation asked for every so many clusters.
const CLUSTERS_PER_REPORT: usize = 16;

/// What clusters are made of.
pub(super) struct Input<'a> {
    pub space: &'a RowLayout,
    /// Row of each person included.
    pub rows: &'a [u32],
    /// K of each of them: the stricter of job and person.
    pub k: &'a [u32],
}

/// Clusters of at least K of the persons, each person in one.
///
/// Nobody asks for more persons than there are.
pub(super) fn form(
    input: &Input<'_>,
    context: &RunContext<'_>,
    report: impl Fn(f64),
) -> Result<Vec<Vec<u32>>, EngineError> {
    let all = input.k.len();
    let mut index = Index::new(input.space, input.rows, all);
    let k = |slot: u32, index: &Index<'_>| input.k[index.order()[slot as usize] as usize];
    let mut seeds: Vec<u32> = (0..all as u32).collect();
    // Stable: among the equally strict the order of the index stays.
    seeds.sort_by_key(|&slot| std::cmp::Reverse(k(slot, &index)));
    let mut clusters: Vec<Vec<u32>> = Vec::new();
    let mut over = Vec::new();
    let mut open = Vec::new();
    for seed in seeds {
        if !index.has(seed) {
            continue;
        }
        if clusters.len().is_multiple_of(CLUSTERS_PER_REPORT) {
            context.check()?;
            report(1.0 - index.left() as f64 / all as f64);
        }
        let mut needed = k(seed, &index) as usize;
        let mut probe = Probe::new(input.space, index.row(seed));
        let available = index.left();
        index.take_out(seed);
        if needed > available {
            over.push(seed);
            continue;
        }
        let mut cluster = vec![index.order()[seed as usize]];
        while cluster.len() < needed {
            let Some((slot, _)) = index.nearest(&probe, &mut open) else {
                break;
            };
            probe.include(index.row(slot));
            index.take_out(slot);
            cluster.push(index.order()[slot as usize]);
            needed = needed.max(k(slot, &index) as usize);
        }
        clusters.push(cluster);
    }
    let over = over.into_iter().map(|slot| index.order()[slot as usize]);
    place_the_rest(input, &mut clusters, over.collect());
    Ok(clusters)
}

/// Puts each of the rest into the cluster whose loss grows least, of those
/// that are large enough for them where there is one.
fn place_the_rest(input: &Input<'_>, clusters: &mut [Vec<u32>], rest: Vec<u32>) {
    if rest.is_empty() {
        return;
    }
    let (space, width) = (input.space, input.space.width());
    let row = |person: u32| &input.rows[person as usize * width..][..width];
    let mut probes: Vec<Probe<'_>> = Vec::with_capacity(clusters.len());
    for cluster in clusters.iter() {
        let mut probe = Probe::new(space, row(cluster[0]));
        for &person in &cluster[1..] {
            probe.include(row(person));
        }
        probes.push(probe);
    }
    for person in rest {
        let needed = input.k[person as usize] as usize;
        let costs = probes.iter().zip(clusters.iter()).enumerate();
        let costs = costs.map(|(at, (probe, cluster))| {
            let size = cluster.len() + 1;
            let growth = probe.growth(row(person));
            let cost = growth * size as f32 + space.loss(probe.row());
            (size < needed, cost, at)
        });
        let least = costs.min_by(|one, other| {
            let by_size = one.0.cmp(&other.0);
            by_size
                .then(one.1.total_cmp(&other.1))
                .then(one.2.cmp(&other.2))
        });
        if let Some((_, _, at)) = least {
            probes[at].include(row(person));
            clusters[at].push(person);
        }
    }
}
