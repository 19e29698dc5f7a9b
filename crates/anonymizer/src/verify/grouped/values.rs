//! The published values of one sensitive attribute, class by class of rows.
//!
//! A row whose cell is no single value of the attribute counts for nothing
//! here; `sensitive_exact` has named it.

use crate::privacy::ProtectedIndex;

use super::super::buckets::Buckets;
use super::super::signature::Signatures;
use super::super::verdict::Place;
use super::super::view::{AttributeView, View};

/// The values of every class of rows.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub(super) index: ProtectedIndex,
    pub(super) attribute: &'a AttributeView<'a>,
    pub(super) classes: &'a Signatures,
    /// What each class holds, in order of classes.
    pub(super) contents: Buckets,
}

impl<'a> Values<'a> {
    pub(super) fn of(
        view: &'a View<'a>,
        (index, attribute): (ProtectedIndex, &'a AttributeView<'a>),
        classes: &'a Signatures,
    ) -> Self {
        let code = |row: u32| {
            let known = view.terms(row as usize).is_some();
            known.then(|| attribute.cells.meaning(row as usize).single())?
        };
        let contents = Buckets::of_classes(attribute.domain.len(), classes, code);
        Self {
            index,
            attribute,
            classes,
            contents,
        }
    }

    /// Where a class is.
    pub(super) fn place(&self, view: &View, class: usize) -> Place {
        Place::Group(self.classes.group_number(view.group, class))
    }

    /// How often each known value of a class occurs, the most frequent first.
    pub(super) fn counts(&self, class: usize) -> Vec<u64> {
        let missing = self.attribute.domain.missing().map(|code| code.0);
        let contents = self.contents.contents(class).iter();
        let contents = contents.filter(|&&(code, _)| Some(code) != missing);
        let mut counts: Vec<u64> = contents.map(|&(_, count)| count).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts
    }
}
