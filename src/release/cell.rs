//! One published cell and its text form.
//!
//! Text (releases.md): interval `lo..hi` (`v` when both ends are equal), a
//! hierarchy node by its label, a set as `{a|b}`, masked `*`, nothing where
//! the value is in a bucket, a fingerprint as `A|b2`. So that every text
//! reads back as one cell, the characters `\ { | }` inside members of sets
//! and fingerprints, a leading `{` or `\` of a label, and a *leaf* called `*`
//! are written with a backslash before them.

/// One published cell.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Cell {
    /// The value is in the bucket named beside the cell, or there is none.
    Empty,
    /// Any value (also the hierarchy root labelled `*`).
    Masked,
    /// Whole numbers from lo to hi, both included.
    Integer(i64, i64),
    /// Numbers from lo to hi, both included.
    Decimal(f64, f64),
    /// Days (since 1970-01-01) from lo to hi, both included.
    Date(i32, i32),
    /// A category: a leaf, or a node of the hierarchy.
    Label(String),
    /// Categories, one of which is the value; sorted, at least two.
    Set(Vec<String>),
    /// A fingerprint: nodes that all belong to the subject; sorted.
    Items(Vec<String>),
}
