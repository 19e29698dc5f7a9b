//! Attacks of trust.md, carried out on the published tables: what an
//! adversary attains, beside the bound where a claim rests on it.
//!
//! | attack | figure | bound |
//! |---|---|---|
//! | linkage | prosecutor's largest and mean risk, marketer's | 1/K |
//! | homogeneity | largest share of a value in a class | the claim |
//! | similarity | least spread of a class, as a share of the whole | none |
//! | skewness | largest distance of a class from the whole | none (t where claimed) |
//! | joint_knowledge | rows of the group that stay possible | none |
//! | group_leakage | chance of linking a subject to its own value | none |
//! | equal_vectors | right guesses of what classes with equal vectors share | 1/l, and what the data say |
//! | downcoding | generalized cells of which a finer one is certain | none |
//! | singling_out | groups in which cells and one of their ends are those of one person | none |
//! | terms_visible | precision of telling who asked for something | the policy's share, where it has one |

mod contents;
mod dealt;
mod equal_vectors;
pub(super) mod guesses;
mod hulls;
mod linkage;
mod terms;

pub(super) use contents::{homogeneity, similarity, skewness};
pub(super) use dealt::Homes;
pub(super) use equal_vectors::{Standing, entry, equal_vectors};
pub(super) use guesses::Compared;
pub(super) use hulls::tight_hulls;
pub(super) use linkage::linkage;
pub(super) use terms::terms_visible;
