//! The published values of one sensitive attribute, class by class of rows.
//!
//! A row whose cell is no single value of the attribute counts for nothing
//! here; `sensitive_exact` has named it.

use crate::privacy::ProtectedIndex;
use crate::verify::classes::{Classes, Counts, Numbering};
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::view::{AttributeView, View};

/// The values of every class of rows.
#[derive(Debug)]
pub(super) struct Values<'a> {
    index: ProtectedIndex,
    pub(super) attribute: &'a AttributeView<'a>,
    members: &'a EquivalenceClasses,
    group: &'a [u64],
    counts: Counts,
    of_all: Option<&'a [u64]>,
}

impl<'a> Values<'a> {
    pub(super) fn of(
        view: &'a View<'a>,
        (index, attribute): (ProtectedIndex, &'a AttributeView<'a>),
        members: &'a EquivalenceClasses,
    ) -> Self {
        let code = |row: u32| {
            let known = view.terms(row as usize).is_some();
            known.then(|| attribute.cells.meaning(row as usize).single())?
        };
        Self {
            index,
            attribute,
            members,
            group: view.group,
            of_all: view.whole.map(|whole| whole.published(index)),
            counts: Counts::of_rows(attribute.domain.len(), &members.members, code),
        }
    }

    /// The values as classes.
    pub(super) fn classes(&self) -> Classes<'_> {
        Classes {
            index: self.index,
            name: self.attribute.name,
            domain: self.attribute.domain,
            members: &self.members.members,
            counts: &self.counts,
            numbering: Numbering::Groups(self.group),
            of_all: self.of_all,
        }
    }
}
