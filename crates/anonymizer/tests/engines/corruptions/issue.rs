//! Which of the corruptions are those that were found accepted first, and the
//! classical ones beside them; the others are of new kinds.
//!
//! The 54th, raw records as one more file, needs a folder: it is with the tests
//! of the command line.

use std::collections::BTreeSet;

use super::{
    added, cells, choices, classical, documents, fingerprints, lists, numbers, orders, randomized,
    rings, slices,
};

/// Disclose by themselves.
const DISCLOSING: [&str; 7] = [
    "values of a block in the order of its rows",
    "values of a bucket in the order of its rows",
    "rows of each group by the sensitive value",
    "numbers by the first row's value",
    "columns left linked",
    "whole groups kept, the others drawn",
    "no ring is turned",
];
/// Encode the source.
const ORDERS: [&str; 13] = [
    "rows of the source, folded",
    "rows by a hash of the key",
    "rows of the source under an affine map",
    "rows of the source, up and down in turn",
    "values by a hash of their owner",
    "blocks of the source, each backwards",
    "halves of the source, interleaved",
    "rows of the source by their Gray code",
    "bit of the value in the order of rows that look alike",
    "numbers by the first record of the source",
    "numbers by a hash of the first record",
    "groups by their first record of the source",
    "rows of the source by reversed bits",
];
/// Of the manifest.
const DOCUMENTS: [&str; 11] = [
    "the lineage among the parameters",
    "the lineage under an unknown key",
    "keys among what is not protected",
    "nothing said to be unprotected",
    "a false adversary",
    "a weaker adversary",
    "a claim in other words",
    "k of 100 among the parameters",
    "k of 100 claimed",
    "said to be unverified",
    "another engine of the same model",
];
const CLASSICAL: [&str; 22] = [
    "a row lost",
    "a group lost",
    "a row twice",
    "a row twice, the second as somebody else's",
    "a subject who asked to be left out",
    "two people's rows exchanged",
    "a row in another group",
    "two groups of one number",
    "one group of two numbers",
    "a row without a number",
    "exact values of two rows exchanged",
    "another exact value",
    "a count one too large",
    "a count beyond all records",
    "another listed value",
    "an interval too narrow",
    "an interval wider at its upper end",
    "a node beside the value",
    "a column of keys",
    "l of 100 claimed",
    "one record more",
    "one record left out more",
];

fn names() -> BTreeSet<&'static str> {
    let mut all = orders::corruptions();
    all.extend(numbers::corruptions());
    all.extend(lists::corruptions());
    all.extend(cells::corruptions());
    all.extend(classical::corruptions());
    all.extend(added::corruptions());
    all.extend(choices::exclusions());
    all.extend(choices::dealings());
    all.extend(slices::corruptions());
    all.extend(randomized::corruptions());
    all.extend(rings::corruptions());
    all.extend(fingerprints::corruptions());
    let documents = documents::corruptions();
    let count = all.len() + documents.len();
    let names = all.iter().map(|corruption| corruption.name);
    let names: BTreeSet<&str> = names.chain(documents.iter().map(|one| one.name)).collect();
    assert_eq!(names.len(), count, "every corruption has a name of its own");
    names
}

#[test]
fn the_corruptions_found_first_are_there_and_a_hundred_of_new_kinds() {
    let names = names();
    let first = [&DISCLOSING[..], &ORDERS, &DOCUMENTS, &CLASSICAL].concat();
    for name in &first {
        assert!(names.contains(name), "{name}");
    }
    let new = names.len() - first.len();
    assert!(new >= 100, "{new} of new kinds");
}
