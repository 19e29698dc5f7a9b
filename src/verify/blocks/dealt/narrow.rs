//! Sub-blocks that span too little, joined again.
//!
//! A sub-block whose known values do not span the least spread takes in the
//! sub-blocks made after it, one by one, until what it has spans enough and no
//! value has more than 1 in L of it, L the strictest of its people. The last
//! ones may find too few after them: they take in what was made before them.

use super::people::People;

/// The sub-blocks after joining.
pub(super) fn join(people: &People, dealt: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut blocks: Vec<Vec<u32>> = Vec::new();
    let mut dealt = dealt.into_iter();
    while let Some(mut block) = dealt.next() {
        if !people.span(&block) {
            while !is_enough(people, &block)
                && let Some(after) = dealt.next()
            {
                block.extend(after);
            }
            while !is_enough(people, &block)
                && let Some(before) = blocks.pop()
            {
                block.extend(before);
            }
        }
        blocks.push(block);
    }
    blocks
}

fn is_enough(people: &People, block: &[u32]) -> bool {
    let values = block.iter().map(|&person| people.value[person as usize]);
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    let runs = values.chunk_by(|one, other| one == other);
    let most = runs.map(<[u32]>::len).max().unwrap_or(0);
    most.saturating_mul(people.l_of(block)) <= block.len() && people.span(block)
}
