//! Random cases of `personalized`: a tree over the sensitive values, and
//! subjects who guard nodes of it.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::ChunkColumn;

use crate::made;
use crate::scenario::{Records, Scenario, one_of, preferences};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub quasi: usize,
}

impl Plan {
    pub fn scenario(self) -> Scenario {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let mut records = Records::of_subjects(self.records);
        records.add_many("quasi_identifier", self.quasi, &mut random);
        records.add("other", "insensitive", &mut random);
        let at = random.random_range(1..=records.attributes.len());
        let leaves = one_of(&[1_usize, 2, 4, 9, 9, 30], &mut random);
        let (tree, nodes) = tree(leaves, &mut random);
        records.hierarchies.insert("s".into(), made::tree(&tree));
        records.attributes.insert(
            at,
            json!({"name": "s", "role": "sensitive", "type": "categorical", "hierarchy": "s"}),
        );
        let column = values(leaves, self.records, &mut random);
        records.columns.insert(at, column);
        let mut more = json!({});
        if random.random_bool(0.1) {
            more["default_preference"] = terms(&nodes, false, &mut random);
        }
        let share = one_of(&[0.0, 0.05, 0.3, 1.0], &mut random);
        let preferences = preferences(&records.keys, share, &mut random, |random| {
            terms(&nodes, true, random)
        });
        let parameters = parameters(&mut random);
        records.scenario("personalized", more, preferences, parameters)
    }
}

/// Lines of a tree, and the labels of all of its nodes.
fn tree(leaves: usize, random: &mut ChaCha12Rng) -> (String, Vec<String>) {
    let root = one_of(&["*", "all"], random);
    let twigs = random.random_range(1..=4);
    let mut lines = String::new();
    let mut nodes = vec![root.to_owned()];
    // Leaves that never occur, too.
    for leaf in 0..leaves + 2 {
        let above = match random.random_range(0..4) {
            0 => vec![],
            1 => vec![format!("branch {}", leaf % twigs)],
            _ => vec![
                format!("twig {}", leaf % (2 * twigs)),
                format!("branch {}", leaf % twigs),
            ],
        };
        let mut line = vec![format!("v{leaf}")];
        line.extend(above);
        nodes.extend(line.iter().cloned());
        line.push(root.into());
        lines.push_str(&line.join(";"));
        lines.push('\n');
    }
    (lines, nodes)
}

fn values(leaves: usize, records: usize, random: &mut ChaCha12Rng) -> ChunkColumn {
    let labels: Vec<String> = (0..leaves).map(|leaf| format!("v{leaf}")).collect();
    let skew = one_of(&[1, 1, 2, 4], random);
    let cells = (0..records).map(|_| {
        let share: f64 = random.random::<f64>().powi(skew);
        labels[((share * leaves as f64) as usize).min(leaves - 1)].as_str()
    });
    made::categories(cells.collect::<Vec<_>>())
}

fn terms(nodes: &[String], may_exclude: bool, random: &mut ChaCha12Rng) -> Value {
    let bound =
        |random: &mut ChaCha12Rng| one_of(&[1.0, 0.9, 0.5, 0.34, 0.25, 0.2, 0.1, 0.01], random);
    let mut document = json!({});
    match random.random_range(0..4) {
        0 => document["max_leakage"] = json!(bound(random)),
        1 => document["max_leakage"] = json!({"s": bound(random)}),
        2 => document["max_reidentification"] = json!(bound(random)),
        _ => {}
    }
    if random.random_bool(0.3) {
        let mut guarded: Vec<String> = (0..random.random_range(1..=3))
            .map(|_| one_of(nodes, random))
            .collect();
        if random.random_bool(0.1) {
            guarded.push("nothing of the kind".into());
        }
        guarded.sort();
        guarded.dedup();
        document["guard"] = json!({"s": guarded});
    }
    if may_exclude && random.random_bool(0.05) {
        document["exclude"] = json!(true);
    }
    document
}

fn parameters(random: &mut ChaCha12Rng) -> Value {
    json!({
        "k": one_of(&[1, 2, 2, 3, 3, 4, 5, 10, 40], random),
        "sensitive": "s",
        "max_leakage": one_of(&[1.0, 1.0, 0.9, 0.5, 0.5, 0.34, 0.25, 0.2, 0.1], random),
        "grouping": one_of(&["sorted", "sorted", "mondrian"], random),
        "recoding": one_of(&["group_cut", "group_cut", "paper"], random),
        "max_excluded": one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random),
        "effort": one_of(&["none", "none", "fast", "fast", "best"], random),
    })
}
