//! Combinations of a population table in a tree of boxes (k-d tree), so that the
//! people in a box are counted without looking at each of them.
//!
//! A node holds combinations that lie together in the order of the tree; it is
//! cut at the median of the attribute in which it is widest. A box that holds a
//! node as a whole takes its people at once, one that does not touch it passes.

use std::ops::Range;

use super::axis::{Axis, Cover};

/// Combinations that are not cut further.
const LEAF: usize = 16;

/// People by their places on some axes.
pub(super) struct PeopleIndex {
    width: usize,
    nodes: Vec<Node>,
    /// Least and greatest place of each node on each axis.
    bounds: Vec<(u32, u32)>,
    /// Places of the combinations in the order of the tree.
    places: Vec<u32>,
    /// People before each of them; one more entry than combinations.
    before: Vec<u64>,
}

struct Node {
    combinations: Range<u32>,
    /// The second of both nodes below; the first follows this one. 0: none.
    second: u32,
}

impl PeopleIndex {
    /// The index of combinations that stand for so many people each. Time:
    /// combinations × (axes + log combinations) × log combinations.
    pub fn new(axes: &[Axis<'_>], counts: &[u64]) -> Self {
        let mut order: Vec<u32> = (0..counts.len() as u32).collect();
        let mut building = Building {
            axes,
            nodes: Vec::new(),
            bounds: Vec::new(),
        };
        if !order.is_empty() {
            building.node(&mut order, 0);
        }
        let places = order.iter().flat_map(|&at| {
            let places = axes.iter().map(move |axis| axis.places[at as usize]);
            places.collect::<Vec<u32>>()
        });
        let mut before = Vec::with_capacity(order.len() + 1);
        before.push(0_u64);
        let mut people = 0;
        for &at in &order {
            people += counts[at as usize];
            before.push(people);
        }
        Self {
            width: axes.len(),
            places: places.collect(),
            nodes: building.nodes,
            bounds: building.bounds,
            before,
        }
    }

    /// People in a box: a cover for each axis. `open` is room that is used again.
    pub fn count(&self, covers: &[&Cover], open: &mut Vec<u32>) -> u64 {
        if self.nodes.is_empty() {
            return 0;
        }
        open.clear();
        let runs = covers.iter().map(|cover| match cover {
            Cover::All => None,
            Cover::Runs(runs) => Some(runs.as_slice()),
        });
        let runs: Vec<Option<&[Range<u32>]>> = runs.collect();
        open.extend(
            (0..)
                .zip(&runs)
                .filter(|(_, runs)| runs.is_some())
                .map(|(at, _)| at),
        );
        let mut counting = Counting {
            index: self,
            runs,
            open,
        };
        counting.node(0, 0)
    }

    fn people(&self, combinations: &Range<u32>) -> u64 {
        self.before[combinations.end as usize] - self.before[combinations.start as usize]
    }
}

/// A tree while it is built.
struct Building<'a> {
    axes: &'a [Axis<'a>],
    nodes: Vec<Node>,
    bounds: Vec<(u32, u32)>,
}

impl Building<'_> {
    /// Adds the node of combinations, which stand behind `start` others in the
    /// order of the tree, and those below it.
    fn node(&mut self, order: &mut [u32], start: u32) {
        let own = self.nodes.len();
        let bounds = self.axes.iter().map(|axis| {
            let places = order.iter().map(|&at| axis.places[at as usize]);
            places.fold((u32::MAX, 0), |(least, most), place| {
                (least.min(place), most.max(place))
            })
        });
        let bounds: Vec<(u32, u32)> = bounds.collect();
        // Widest as a share of its axis: an attribute of two values is cut as
        // early as one of a hundred.
        let share = |at: usize| {
            let (least, most) = bounds[at];
            u64::from(most - least) * (1 << 20) / u64::from(self.axes[at].len.max(2) - 1)
        };
        let widest = (0..self.axes.len()).max_by_key(|&at| share(at));
        let widest = widest.filter(|&at| bounds[at].0 < bounds[at].1);
        self.bounds.extend(bounds);
        self.nodes.push(Node {
            combinations: start..start + order.len() as u32,
            second: 0,
        });
        let (true, Some(widest)) = (order.len() > LEAF, widest) else {
            return;
        };
        let middle = order.len() / 2;
        let places = &self.axes[widest].places;
        order.select_nth_unstable_by_key(middle, |&at| (places[at as usize], at));
        let (first, second) = order.split_at_mut(middle);
        self.node(first, start);
        self.nodes[own].second = self.nodes.len() as u32;
        self.node(second, start + middle as u32);
    }
}

/// One box being counted.
struct Counting<'i> {
    index: &'i PeopleIndex,
    runs: Vec<Option<&'i [Range<u32>]>>,
    /// A stack of axes: those of a node that are not decided stand last.
    open: &'i mut Vec<u32>,
}

impl Counting<'_> {
    /// People of a node; the axes behind `first` in the stack are not decided.
    fn node(&mut self, at: usize, first: usize) -> u64 {
        let own = self.open.len();
        for place in first..own {
            let axis = self.open[place] as usize;
            let bounds = self.index.bounds[at * self.index.width + axis];
            match relation(self.runs[axis].unwrap_or_default(), bounds) {
                Relation::Outside => {
                    self.open.truncate(own);
                    return 0;
                }
                Relation::Inside => {}
                Relation::Across => self.open.push(axis as u32),
            }
        }
        let node = &self.index.nodes[at];
        let people = if self.open.len() == own {
            self.index.people(&node.combinations)
        } else if node.second == 0 {
            self.one_by_one(node.combinations.clone(), own)
        } else {
            let second = node.second as usize;
            self.node(at + 1, own) + self.node(second, own)
        };
        self.open.truncate(own);
        people
    }

    fn one_by_one(&self, combinations: Range<u32>, own: usize) -> u64 {
        let open = &self.open[own..];
        let fits = |combination: &u32| {
            let places = *combination as usize * self.index.width;
            open.iter().all(|&axis| {
                let place = self.index.places[places + axis as usize];
                let runs = self.runs[axis as usize].unwrap_or_default();
                !matches!(relation(runs, (place, place)), Relation::Outside)
            })
        };
        let fitting = combinations.filter(fits);
        fitting
            .map(|combination| self.index.people(&(combination..combination + 1)))
            .sum()
    }
}

/// How places from one to another lie to runs.
enum Relation {
    /// None is in a run.
    Outside,
    /// All are in one run.
    Inside,
    /// Some may be.
    Across,
}

fn relation(runs: &[Range<u32>], (least, most): (u32, u32)) -> Relation {
    let at = runs.partition_point(|run| run.end <= least);
    match runs.get(at) {
        Some(run) if run.start <= least && most < run.end => Relation::Inside,
        Some(run) if run.start <= most => Relation::Across,
        _ => Relation::Outside,
    }
}
