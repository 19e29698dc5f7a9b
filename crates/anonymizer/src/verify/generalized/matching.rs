//! `matching_groups`: what somebody learns who knows a target's quasi-
//! identifiers and nobody else's.
//!
//! Published boxes may overlap: a node of a hierarchy covers leaves that no
//! row of the group has, and relaxed splits put one value on both sides. All
//! groups whose cells cover the target are then possible, each as likely as it
//! has rows, and the chance of the target's own value is its share of all
//! those rows. (The manifest's adversary knows everyone's quasi-identifiers
//! and with them mostly the one group.) Figure: the largest ratio of that
//! chance to what the target's terms accept; reported, not bounded, as
//! `group_leakage` of buckets is.
//!
//! Looked at are records that accept less than everything, each against every
//! group: at most [`STEPS_MAX`] cells, beyond which the figure is that of the
//! records looked at so far.

use crate::microdata::Role;

use super::values::Values;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::{AttributeView, View};

/// Cells after which no further record is looked at.
const STEPS_MAX: u64 = 1 << 27;

/// The entry of one attribute.
pub(super) fn matching_groups(view: &View, values: &Values, alike: &EquivalenceClasses) -> Check {
    let classes = values.classes();
    let quasi = view.attributes.iter();
    let quasi = quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier);
    let quasi: Vec<&AttributeView> = quasi.collect();
    let leaders = (0..alike.len()).filter_map(|class| alike.rows(class).first().copied());
    let leaders: Vec<u32> = leaders.collect();
    let mut worst: Option<(f64, u64)> = None;
    let (mut steps, mut subjects, mut several) = (0_u64, 0_u64, 0_u64);
    for row in 0..view.rows() {
        let (Some(terms), Some(own)) = (view.terms(row), view.source(values.attribute, row)) else {
            continue;
        };
        let at = classes.index.at();
        let accepted = terms.max_share[at].get().min(1.0 / f64::from(terms.l[at]));
        if accepted >= 1.0 || steps > STEPS_MAX {
            continue;
        }
        let (mut groups, mut rows, mut same) = (0_u64, 0_u64, 0_u64);
        for (class, &leader) in leaders.iter().enumerate() {
            let covers = quasi.iter().all(|attribute| {
                steps += 1;
                let code = view.source(attribute, row);
                let meaning = attribute.cells.meaning(leader as usize);
                code.is_some_and(|code| meaning.covers(code))
            });
            if covers {
                groups += 1;
                rows += classes.counts.sizes[class];
                same += classes.counts.count(class, own);
            }
        }
        subjects += 1;
        several += u64::from(groups > 1);
        let ratio = same as f64 / rows.max(1) as f64 / accepted;
        if worst.is_none_or(|(most, _)| ratio > most) {
            worst = Some((ratio, view.group[row]));
        }
    }
    let check = Check::new(Section::Attack, "matching_groups")
        .about(values.attribute.name)
        .attaining(
            worst.map(|(ratio, _)| ratio),
            worst.map(|(_, group)| Place::Group(group)),
        )
        .with_figure("share_in_several", several as f64 / subjects.max(1) as f64)
        .weighing(subjects);
    if steps > STEPS_MAX {
        check.noting("records beyond the limit of steps were not looked at")
    } else {
        check
    }
}
