//! The splits of `one_to_many`, on the same made-up persons.

use crate::engine::context::RunContext;
use crate::engine::one_to_many::conditions::{Conditions, Floors};
use crate::engine::one_to_many::partition::{Material, partition};
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::space::Space;
use crate::engine::one_to_many::split::{Splitter, split};
use crate::engine::one_to_many::trees::Trees;

use super::made::{made, params};

#[test]
fn axes_tried_side_by_side_give_the_split_of_axes_tried_in_turn() {
    let made = made(3, 400, 3);
    let params = params(4, 2, 0.5);
    let requirements = made.requirements(&params);
    let persons = Persons::gather(&made.table, &requirements, params.qid_conflict);
    let persons = persons.expect("persons");
    let trees = Trees::new(&persons.sensitive, None);
    let context = RunContext::silent(1);
    let material = Material {
        persons: &persons,
        trees: &trees,
        k: 4,
        hidden: &vec![false; trees.len()],
    };
    let everyone: Vec<u32> = (0..persons.len() as u32).collect();
    let fingerprints = partition(material, everyone.clone(), &context).expect("parts");
    let floors = Floors {
        k_group: 4,
        l: 1,
        value_l: 1,
    };
    let conditions = Conditions::new(&persons, &fingerprints, &trees, floors);
    let space = Space::new(&persons);
    let groups = |wide: usize| {
        let splitter = Splitter {
            space: &space,
            conditions: &conditions,
            order: (0..space.axes.len()).rev().collect(),
            wide,
        };
        let mut members = everyone.clone();
        let sizes = split(&splitter, &mut members, &context).expect("groups");
        (members, sizes)
    };
    let in_turn = groups(usize::MAX);
    assert!(in_turn.1.len() > 20);
    assert_eq!(groups(0), in_turn);
}
