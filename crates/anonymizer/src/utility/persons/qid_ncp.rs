//! QID-NCP: mean over persons of the mean loss of their quasi-identifier cells.
//!
//! Every person has a cell of every quasi-identifier, so that is the mean over
//! all cells too. Loss is that of engines.md, rule 6, as for NCP.

use super::prepared::{PersonsAttribute, PreparedPersons};
use crate::utility::ncp::{Ncp, sum_up};
use crate::utility::report::{Audience, Description};
use crate::utility::scale::Scale;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Loss of quasi-identifiers (QID-NCP)",
    audience: Audience::Steward,
    definition: "Mean over persons of the mean loss of their quasi-identifier cells, and per attribute: (hi − lo)/range of the dataset, leaves of the node / leaves of the root, |set|/|domain|, masked 1.",
    source: "1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems",
};

/// The same on the scale that the release shows.
pub const DESCRIPTION_PUBLISHED: Description = Description {
    title: "Loss of quasi-identifiers (QID-NCP), by the published range",
    audience: Audience::Analyst,
    definition: "As QID-NCP, but every range and domain is that which the release itself shows, so that the figure tells nothing of persons who were left out.",
    source: "1:M: Gong et al. 2017; the scale is ours",
};

/// QID-NCP on the scale of the dataset version.
pub fn measure(prepared: &PreparedPersons<'_>) -> Ncp {
    on_scale(prepared, |attribute| {
        Scale::of_domain(&attribute.original.domain)
    })
}

/// QID-NCP on the scale that the release shows.
pub fn measure_published(prepared: &PreparedPersons<'_>) -> Ncp {
    on_scale(prepared, |attribute| {
        let hierarchy = attribute.original.domain.hierarchy();
        Scale::of_published(attribute.published, hierarchy)
    })
}

fn on_scale(prepared: &PreparedPersons<'_>, scale: impl Fn(PersonsAttribute<'_>) -> Scale) -> Ncp {
    let quasi = prepared.quasi();
    let columns = quasi.map(|attribute| (attribute.published, scale(attribute)));
    sum_up(prepared.joined.rows(), columns)
}
