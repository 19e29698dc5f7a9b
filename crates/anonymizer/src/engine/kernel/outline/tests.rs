//! Parts by counts alone, against records in memory.

use std::sync::Arc;

use serde_json::json;

use super::slices::{Counted, Slices};
use super::*;
use crate::engine::context::WholeTable;
use crate::microdata::{
    CodedColumn, Codes, Domain, Preference, Schema, Table, TableColumn, TextColumn, Values,
};
use crate::privacy::{Diversity, InGroup, K, L, Model, Policy, Requirements, Share};

/// A table of ages and illnesses; one subject a row, `p0`, `p1` …
fn table(rows: &[(u32, u32)]) -> Table {
    let schema: Schema = serde_json::from_value(json!({
        "name": "made-up", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "ill", "role": "sensitive", "type": "integer"}
        ]
    }))
    .unwrap();
    let column = |codes: Vec<u32>| {
        let numbers = (0..100).collect();
        TableColumn::Coded(CodedColumn {
            domain: Arc::new(Domain::new(Values::Integer(numbers), None)),
            codes: Codes::from(codes),
        })
    };
    let keys: Vec<String> = (0..rows.len()).map(|at| format!("p{at}")).collect();
    let columns = vec![
        TableColumn::Identifier(TextColumn::new()),
        column(rows.iter().map(|row| row.0).collect()),
        column(rows.iter().map(|row| row.1).collect()),
    ];
    let keys = keys.iter().map(String::as_str).collect();
    Table::new(Arc::new(schema), columns, keys, Vec::new())
}

fn policy(k: u32, diversity: Option<Diversity>) -> Policy {
    let own = InGroup {
        diversity,
        ..InGroup::default()
    };
    let schema = table(&[(0, 0)]).schema().clone();
    Policy {
        model: Model::Generalized {
            askers_share_max: Share::ALL,
            protections: vec![(schema.protectable()[0], own)],
        },
        k: K::new(k).unwrap(),
        apply_preferences: true,
    }
}

/// The ages in each part, ascending.
fn parts(
    rows: &[(u32, u32)],
    (policy, preferences): (Policy, &[Preference]),
    (records_max, records_min): (u64, u64),
) -> Vec<Vec<u32>> {
    let table = table(rows);
    let requirements = Requirements::new(&table, policy, preferences);
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    let rule = SideRule::new(&table, &requirements, &WholeTable::default());
    let counted = Counted::of(&table, &requirements, rule).among(&all);
    let age = table.schema().find("age").unwrap();
    let columns = [table.coded(age).unwrap()];
    let scales = [Scale::new(&columns[0].domain)];
    let outline = Outline {
        context: &RunContext::silent(1),
        scales: &scales,
        rule: &counted.rule,
        sizes: Sizes {
            records_max,
            records_min,
        },
    };
    let mut slices = Slices::of(all.clone(), &columns, &counted);
    let tree = outline.parts(all.len() as u64, &mut slices).unwrap();
    let leaves = tree.parts();
    assert_eq!(
        leaves.iter().map(|leaf| leaf.records).sum::<u64>(),
        all.len() as u64
    );
    let ages = leaves.iter().map(|leaf| {
        let records = slices.records(leaf.set);
        assert_eq!(records.len() as u64, leaf.records);
        let mut ages: Vec<u32> = records.iter().map(|&at| rows[at as usize].0).collect();
        ages.sort_unstable();
        ages
    });
    ages.collect()
}

fn asks(subject: &str, k: u32) -> Preference {
    let document = json!({"subject": subject, "max_reidentification": 1.0 / f64::from(k)});
    serde_json::from_value(document).unwrap()
}

/// Ages 0 to 7, one of each; two illnesses in turn.
fn eight() -> Vec<(u32, u32)> {
    (0..8).map(|at| (at, at % 2)).collect()
}

#[test]
fn sets_are_cut_at_their_lower_medians_until_they_are_small_enough() {
    let rows = eight();
    let made = |most| parts(&rows, (policy(1, None), &[]), (most, 1));
    assert_eq!(made(8), [vec![0, 1, 2, 3, 4, 5, 6, 7]]);
    assert_eq!(made(7), [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
    assert_eq!(made(4), made(7));
    assert_eq!(made(3), [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]]);
    assert_eq!(made(1).len(), 8);
}

#[test]
fn no_side_is_smaller_than_its_strictest_member_asks_or_the_job_or_the_parts() {
    let rows = eight();
    assert_eq!(parts(&rows, (policy(4, None), &[]), (1, 1)).len(), 2);
    assert_eq!(parts(&rows, (policy(5, None), &[]), (1, 1)).len(), 1);
    assert_eq!(parts(&rows, (policy(1, None), &[]), (1, 4)).len(), 2);
    assert_eq!(parts(&rows, (policy(1, None), &[]), (1, 5)).len(), 1);
    let four = [asks("p7", 4)];
    let made = parts(&rows, (policy(1, None), &four), (1, 1));
    assert_eq!(made.last(), Some(&vec![4, 5, 6, 7]));
    assert_eq!(made.len(), 5, "{made:?}");
    let five = [asks("p7", 5)];
    assert_eq!(parts(&rows, (policy(1, None), &five), (1, 1)).len(), 1);
}

#[test]
fn terms_that_everyone_together_cannot_meet_hold_no_cut_back() {
    let rows = eight();
    let nine = [asks("p7", 9)];
    assert_eq!(parts(&rows, (policy(1, None), &nine), (1, 1)).len(), 8);
}

#[test]
fn each_side_keeps_what_the_job_asks_of_values() {
    let two = Diversity::Distinct(L::new(2).unwrap());
    let made = parts(&eight(), (policy(1, Some(two)), &[]), (1, 1));
    assert_eq!(made, [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]]);
    // The lower half has one illness.
    let halves: Vec<(u32, u32)> = (0..8).map(|at| (at, at / 4)).collect();
    assert_eq!(parts(&halves, (policy(1, Some(two)), &[]), (1, 1)).len(), 1);
}

#[test]
fn equal_values_cannot_be_cut_whatever_is_wanted() {
    let rows = [(3, 0); 20];
    assert_eq!(parts(&rows, (policy(1, None), &[]), (1, 1)).len(), 1);
}

#[test]
fn joined_sides_are_one_part_and_sets_know_what_holds_them() {
    let leaf = |set| Leaf {
        set,
        place: SplitPosition::root(u64::from(set)),
        records: 1,
    };
    let cut = |set, above, sides| Cut {
        leaf: leaf(set),
        above,
        sides,
    };
    // 0 is cut into 1 and 2, 1 into 3 and 4.
    let mut tree = PartTree {
        sets: vec![
            cut(0, 0, Some([1, 2])),
            cut(1, 0, Some([3, 4])),
            cut(2, 0, None),
            cut(3, 1, None),
            cut(4, 1, None),
        ],
    };
    let sets =
        |tree: &PartTree| -> Vec<SetNumber> { tree.parts().iter().map(|leaf| leaf.set).collect() };
    assert_eq!(sets(&tree), [3, 4, 2]);
    assert_eq!((tree.above(4), tree.above(0)), (Some(1), None));
    assert_eq!((tree.common(3, 4), tree.common(4, 2)), (1, 0));
    tree.join(1);
    assert_eq!(sets(&tree), [1, 2]);
    tree.join(0);
    assert_eq!(sets(&tree), [0]);
}
