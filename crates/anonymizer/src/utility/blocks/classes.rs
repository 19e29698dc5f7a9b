//! Sizes of blocks, and of equivalence classes.

use crate::release::{Cells, Content, JoinedAttribute, PublishedTable, Signatures};

use crate::microdata::{Role, RowClasses};
use crate::utility::evidence::JoinedEvidence;
use crate::utility::report::{Audience, Description};

/// What C_DM of blocks is.
pub const BLOCKS_DISCERNED: Description = Description {
    title: "Discernibility (C_DM)",
    audience: Audience::Analyst,
    definition: "Sum over blocks of size². With several sensitive attributes a block is what rows have in common in all of them.",
    source: "Bayardo & Agrawal 2005, Data privacy through optimal k-anonymization; on blocks as ARP has it",
};

/// What sizes of blocks are.
pub const BLOCK_SIZES: Description = Description {
    title: "Block sizes",
    audience: Audience::Analyst,
    definition: "Number of blocks, records / blocks, smallest and largest block, and how many blocks have each size.",
    source: "LeFevre et al. 2006, Mondrian multidimensional k-anonymity (average size), on blocks",
};

/// Blocks and classes.
pub(super) struct Sizes {
    /// Of the blocks.
    pub blocks: Vec<u32>,
    /// Rows with the same published quasi-identifiers.
    pub alike: Signatures,
}

/// Counts rows by block and by equivalence class.
pub(super) fn sizes(prepared: &JoinedEvidence<'_>) -> Sizes {
    let mut numbers: Vec<&[u64]> = Vec::new();
    if let Some(table) = row_table(prepared) {
        let columns = table.columns.iter();
        let wanted = columns.filter(|column| is_number_of_block(column.content));
        numbers.extend(wanted.filter_map(|column| match &column.cells {
            Cells::Numbers(numbers) => Some(numbers.as_slice()),
            Cells::Dictionary { .. } => None,
        }));
    }
    let mut blocks = RowClasses::whole(prepared.joined.rows());
    let has_blocks = !numbers.is_empty();
    for numbers in numbers {
        blocks.refine(|row| numbers[row]);
    }
    let blocks = if has_blocks {
        blocks.sizes()
    } else {
        Vec::new()
    };
    let alike = prepared
        .joined
        .classes_by(|attribute| is_known(prepared, attribute));
    Sizes { blocks, alike }
}

/// Whether rows that show another value of the attribute are not alike.
pub(super) fn is_known(prepared: &JoinedEvidence<'_>, attribute: &JoinedAttribute<'_>) -> bool {
    let schema = prepared.evidence.table.schema();
    let found = schema.find(attribute.name);
    found.is_some_and(|index| schema.attribute(index).role == Role::QuasiIdentifier)
}

/// The published number of each row's group.
pub(super) fn groups<'a>(prepared: &'a JoinedEvidence<'_>) -> &'a [u64] {
    let columns = row_table(prepared).map(|table| table.columns.iter());
    let mut columns = columns.into_iter().flatten();
    let group = columns.find(|column| column.content == Content::Group);
    match group.map(|column| &column.cells) {
        Some(Cells::Numbers(numbers)) => numbers,
        _ => &[],
    }
}

fn row_table<'a>(prepared: &'a JoinedEvidence<'_>) -> Option<&'a PublishedTable> {
    let mut tables = prepared.evidence.tables.iter();
    tables.find(|table| table.name == prepared.joined.name())
}

fn is_number_of_block(content: Content) -> bool {
    matches!(content, Content::Block | Content::Group | Content::Bucket)
}
