//! Shared pure blocks of the engines.
//!
//! Engines work on rows of ordered codes: [`Rows`] with slices of row numbers
//! that are partitioned in place, or, in [`mondrian`], rows that move with
//! their codes; nothing here allocates per record in an inner loop. A random
//! choice draws from the stream of its [`SplitPosition`] in the tree of splits,
//! never from the order in which threads arrive.
//!
//! | block | what it gives |
//! |---|---|
//! | [`rows`] | codes of the records of one set, row by row |
//! | [`cut`] | lower median and its cut by counting, partition in place |
//! | [`loss`] | loss of a pair or an interval of one attribute |
//! | [`cover`] | the box around a set and what one more record adds to its loss |
//! | [`mod@descend`] | splits a set until nothing can be split, on all threads |
//! | [`eligibility`] | l-eligibility in integers, tallies that follow removals |
//! | [`mondrian`] | splits at medians under a condition of the caller's |
//! | [`diversity`], [`closeness`] | l-diversity and t-closeness of the values of one group |
//! | [`groups`] | finished groups and their extremes |
//! | [`cells`], [`covers`] | published cells from codes |
//! | [`mod@companions`] | others who are treated as if they asked for something |
//! | [`included`] | records and columns that are published, with what they ask for |
//! | [`microdata_table`] | the table `microdata` of groups that share their quasi-identifiers |
//! | [`contingency`] | φ² of two attributes |
//! | [`sliced_table`] | the tables `sliced` and `columns` of buckets with permuted columns |
//! | [`feasibility`] | whether a release can exist, whom that excludes, and what would help |
//! | [`acceptance`] | what engines ask of every schema and job |
//! | [`keeping`] | who stays in the groups that public releases show |
//! | [`known`] | answers on l where values are missing |
//! | [`outline`] | cuts a table into parts by counts alone |
//! | [`refine`], [`effort`] | groups refined by local search, and how long |
//! | [`split_position`] | positions in a tree and their random streams |

pub mod acceptance;
pub mod among;
mod bands;
pub mod cells;
pub mod closeness;
pub mod companions;
pub mod contingency;
pub mod cover;
pub mod covers;
pub mod cut;
pub mod descend;
pub mod diversity;
pub mod effort;
pub mod eligibility;
pub mod feasibility;
pub mod groups;
pub mod included;
pub mod keeping;
pub mod known;
pub mod loss;
pub mod microdata_table;
pub mod mondrian;
pub mod outline;
pub mod refine;
pub mod rows;
pub mod sliced_table;
pub mod split_position;

pub use among::Among;
pub use companions::companions;
pub use cover::{BoxLayout, Cover};
pub use covers::Covers;
pub use descend::{Descent, Splitter, descend};
pub use effort::Effort;
pub use eligibility::{Tally, is_eligible};
pub use feasibility::Everyone;
pub use groups::Groups;
pub use included::Included;
pub use keeping::Staying;
pub use loss::Scale;
pub use mondrian::{Mondrian, PartCondition, Partitioning, SplitChoice};
pub use refine::Refinement;
pub use rows::Rows;
pub use split_position::SplitPosition;
