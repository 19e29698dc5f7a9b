//! The index of a release as it is published: what may be asked of it follows
//! from its tables, its claims and the hierarchies beside it.

use crate::microdata::AttributeType;
use crate::release::{Cell, Content, Guarantee, HierarchyList, JoinError, PublishedTable};

use super::attribute::{Closed, IndexedAttribute};
use super::index::{Hierarchies, QueryIndex};

impl QueryIndex<'static> {
    /// Indexes a release for many queries; the tables are not kept.
    ///
    /// Nothing is answered of an attribute whose values were drawn anew, nor of
    /// one whose cells may be nodes of a hierarchy that is not published.
    ///
    /// # Errors
    /// Where the tables do not fit together, or their rows are no records.
    pub fn of_release(
        tables: &[PublishedTable],
        guarantees: &[Guarantee],
        (hierarchies, list): (&Hierarchies, &HierarchyList),
    ) -> Result<Self, JoinError> {
        let mut index = QueryIndex::new(tables, hierarchies)?.into_owned();
        for guarantee in guarantees {
            if let Guarantee::RandomizedResponse { attribute, .. } = guarantee {
                index.close(attribute, Closed::Drawn);
            }
        }
        for attribute in &list.withheld {
            let mut attributes = index.attributes.iter().zip(&index.domains);
            let is_open = attributes.all(|(found, domain)| {
                found.name != *attribute
                    || domain.kind != AttributeType::Categorical
                    || !shows_nodes(found)
            });
            if !is_open {
                index.close(attribute, Closed::Withheld);
            }
        }
        Ok(index)
    }
}

/// Whether cells may be nodes of a hierarchy.
fn shows_nodes(attribute: &IndexedAttribute<'_>) -> bool {
    let mut cells = attribute.cells.iter();
    attribute.content == Content::Generalized && cells.any(|cell| matches!(cell, Cell::Label(_)))
}
