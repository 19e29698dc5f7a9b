//! The order of a release whose parts come one after the other and are never in memory
//! together.
//!
//! Each part is put into the order of a release by itself and stands in room beside the
//! memory. What the whole release looks like follows by merging, since what a part's
//! rows show compares in the whole as it does in the part: cells of all parts have one
//! dictionary, and groups get their numbers as those of all parts are merged by content.
//! Groups that several parts show alike are one group; they are taken out of their parts
//! first, since their content is that of all their rows. Later numbers, those of buckets,
//! come next, by the numbers of the groups: from here on a part's numbers are looked up.
//! At last the rows are read once more, now in their order.
//!
//! The tables are those that [`order`](super::order) makes of the union of all parts,
//! and so is the lineage. In memory are the dictionaries, for each group and bucket a
//! number and for each group its part, blocks of rows of each part, and one part's lists
//! and buckets at a time; of joined groups also what is known of them beforehand.
//!
//! `stored` writes parts, `dictionary` has the cells, `alike` finds groups that are one,
//! `whole` is what holds for all rows, `groups` merges groups, `joined` makes runs of
//! those of several parts, `numbers` ranks later numbers, `rows` and `lists` give the
//! tables in chunks (`chunk`); `queue` merges, `room` reads and writes. `ordered` does one
//! after the other, and `part` names parts and what callers give.

mod alike;
mod chunk;
mod dictionary;
mod groups;
mod joined;
mod lists;
mod numbers;
mod ordered;
mod part;
mod queue;
mod room;
mod rows;
mod stored;
mod whole;

#[cfg(test)]
mod tests;

pub use alike::Alike;
pub use ordered::OrderedParts;
pub use part::{Chunks, PartGroup, PartNumber, Rooms};
