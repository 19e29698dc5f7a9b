//! The attack `equal_vectors` on groups: people with the same quasi-identifiers
//! in rows that look different. A figure without a bound: diversity of values
//! does not bound the share of one.

use crate::microdata::Role;

use super::super::attack;
use super::super::signature::Signatures;
use super::super::verdict::Check;
use super::super::view::View;
use super::values::Values;

/// The entry of one attribute; `values` are of what looks the same.
pub(super) fn equal_vectors(view: &View, values: &Values, looks: &Signatures) -> Check {
    let own = view.own(values.attribute);
    let l = vec![1; view.rows()];
    let standing = attack::Standing {
        vector: &view.known(|attribute| attribute.role == Role::QuasiIdentifier),
        own: &own,
        class: &looks.class_of_row,
        l: &l,
        home: None,
        shown: &|class, to| {
            let contents = values.contents.contents(class as usize).iter();
            to.extend(contents.map(|&(code, _)| code));
        },
        codes: values.attribute.domain.len(),
    };
    attack::equal_vectors(values.attribute.name, &standing, false)
}
