//! The parts against plain versions of themselves.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::engine::one_to_many::rmr::bounds::{Probe, RowLayout};
use crate::engine::one_to_many::rmr::choose::{Offer, choose, finest};
use crate::engine::one_to_many::rmr::index::Index;
use crate::engine::one_to_many::rmr::itemsets::{Cut, Promise, Work};
use crate::engine::one_to_many::rmr::merge::merge;
use crate::engine::one_to_many::rmr::plan::Frame;

use super::made::{made, params};

/// Persons who have each combination of at most m nodes, and their strictest k.
pub fn combinations(
    frame: &Frame<'_>,
    cluster: &[u32],
    cut: &Cut,
) -> BTreeMap<Vec<u32>, (u32, u32)> {
    let mut counts = BTreeMap::new();
    let mut nodes = Vec::new();
    for &person in cluster {
        cut.fingerprint(frame.persons.items(person), &mut nodes);
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        for chosen in 1_u32..1 << sorted.len() {
            if chosen.count_ones() <= frame.m {
                let parts = sorted.iter().enumerate();
                let parts = parts.filter(|(at, _)| chosen >> at & 1 == 1);
                let key: Vec<u32> = parts.map(|(_, &node)| node).collect();
                let (count, k) = counts.entry(key).or_insert((0, 0));
                *count += 1;
                *k = frame.persons.k[person as usize].max(frame.k).max(*k);
            }
        }
    }
    counts
}

/// Whether every combination has enough persons.
pub fn holds(frame: &Frame<'_>, cluster: &[u32], cut: &Cut) -> bool {
    let counts = combinations(frame, cluster, cut);
    counts.values().all(|(count, k)| count >= k)
}

fn promise<'a>(frame: &Frame<'a>) -> Promise<'a> {
    Promise {
        persons: frame.persons,
        trees: frame.trees,
        k: frame.k,
        m: frame.m,
        is_personal: frame.persons.k.iter().any(|&own| own > frame.k),
    }
}

#[test]
fn the_nearest_is_the_one_that_a_walk_over_everybody_finds() {
    for (seed, visits) in [(1, 1), (2, 3)] {
        let made = made(seed, 300, visits);
        made.frame(&params(2, 1, 1.0), |frame| {
            let (space, rows) = RowLayout::lay_out(frame.persons);
            let mut index = Index::new(&space, &rows, frame.persons.len());
            let mut random = ChaCha12Rng::seed_from_u64(seed);
            let mut order: Vec<u32> = (0..frame.persons.len() as u32).collect();
            order.shuffle(&mut random);
            let mut open = Vec::new();
            for first in order {
                if !index.has(first) {
                    continue;
                }
                let mut probe = Probe::new(&space, index.row(first));
                index.take_out(first);
                for _ in 0..random.random_range(1..6) {
                    let left = (0..rows.len() as u32 / space.width() as u32)
                        .filter(|&slot| index.has(slot))
                        .map(|slot| (probe.growth(index.row(slot)), slot))
                        .min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                    let found = index.nearest(&probe, &mut open);
                    assert_eq!(found, left.map(|(growth, slot)| (slot, growth)));
                    let Some((slot, growth)) = found else {
                        return;
                    };
                    let before = space.loss(probe.row());
                    probe.include(index.row(slot));
                    assert!((space.loss(probe.row()) - before - growth).abs() < 1e-5);
                    index.take_out(slot);
                }
            }
            assert_eq!(index.left(), 0);
        });
    }
}

#[test]
fn every_combination_of_a_cut_has_enough_persons_and_no_node_could_be_expanded() {
    let mut expanded = 0;
    for (seed, m) in [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4)] {
        let mut made = made(seed, 240, 4);
        made.ask(7, serde_json::json!({"max_reidentification": 0.1}));
        made.ask(9, serde_json::json!({"max_reidentification": 0.2}));
        made.frame(&params(3, m, 1.0), |frame| {
            let mut work = Work::new(promise(frame));
            let mut order: Vec<u32> = (0..frame.persons.len() as u32).collect();
            order.shuffle(&mut ChaCha12Rng::seed_from_u64(seed));
            for cluster in order.chunks(60) {
                let cut = work.cut(cluster);
                assert!(holds(frame, cluster, &cut));
                let roots = frame.trees.roots();
                expanded += cut
                    .nodes
                    .iter()
                    .filter(|(_, node)| !roots.contains(node))
                    .count();
                no_node_can_be_expanded(frame, cluster, &cut);
            }
        });
    }
    assert!(expanded > 100);
}

fn no_node_can_be_expanded(frame: &Frame<'_>, cluster: &[u32], cut: &Cut) {
    let mut nodes: Vec<u32> = cut.nodes.iter().map(|&(_, node)| node).collect();
    nodes.dedup();
    for node in nodes {
        if frame.trees.node(node).is_leaf() {
            continue;
        }
        let below = cut.nodes.iter().map(|&(item, of)| {
            if of == node {
                (
                    item,
                    frame.trees.children(node)[frame.trees.child_position(node, item)],
                )
            } else {
                (item, of)
            }
        });
        let finer = Cut {
            nodes: below.collect(),
            loss: 0.0,
        };
        assert!(!holds(frame, cluster, &finer));
    }
}

#[test]
fn the_loss_of_a_cut_is_that_of_its_nodes() {
    let made = made(11, 120, 4);
    made.frame(&params(4, 2, 1.0), |frame| {
        let cluster: Vec<u32> = (0..frame.persons.len() as u32).collect();
        let cut = Work::new(promise(frame)).cut(&cluster);
        let node_of: BTreeMap<u32, u32> = cut.nodes.iter().copied().collect();
        let items = cluster
            .iter()
            .flat_map(|&person| frame.persons.items(person));
        let losses = items.map(|item| f64::from(frame.trees.node(node_of[item]).loss));
        assert!((losses.sum::<f64>() - cut.loss).abs() < 1e-9);
    });
}

#[test]
fn a_choice_takes_everybody_once_within_its_budget_and_never_what_offers_nothing() {
    let made = made(21, 400, 3);
    made.frame(&params(2, 2, 1.0), |frame| {
        let (space, rows) = RowLayout::lay_out(frame.persons);
        let persons: Vec<u32> = (0..frame.persons.len() as u32).collect();
        let clusters: Vec<Vec<u32>> = persons.chunks(5).map(<[u32]>::to_vec).collect();
        let merges = merge(&space, &rows, &clusters, frame.context).expect("not cancelled");
        assert_eq!(merges.nodes.len(), 2 * clusters.len() - 1);
        let mut work = Work::new(promise(frame));
        let offers: Vec<Offer> = (0..merges.nodes.len())
            .map(|at| Offer {
                items: (at % 7 != 3).then(|| work.cut(merges.members_of(at)).loss),
                most: None,
            })
            .collect();
        let finest = finest(&merges, &offers).expect("everybody together holds");
        let items =
            |taken: &[usize]| -> f64 { taken.iter().filter_map(|&at| offers[at].items).sum() };
        assert_eq!(choose(&merges, &offers, finest.loss * 0.999), None);
        let mut before = items(&finest.taken);
        for step in 0..20 {
            let all = persons.len() as f64;
            let budget = finest.loss + (all - finest.loss) * f64::from(step) / 19.0;
            let choice = choose(&merges, &offers, budget).expect("the finest fits");
            assert!(choice.loss <= budget);
            let mut members: Vec<u32> = Vec::new();
            for &at in &choice.taken {
                assert!(offers[at].items.is_some());
                members.extend(merges.members_of(at));
            }
            members.sort_unstable();
            assert_eq!(members, persons);
            // A wider budget may cost a little by chance, never much.
            assert!(items(&choice.taken) <= before * 1.02);
            before = items(&choice.taken);
        }
        assert!(before < 0.8 * items(&finest.taken));
    });
}
