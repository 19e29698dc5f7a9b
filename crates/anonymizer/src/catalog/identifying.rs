//! Attributes that would identify people if they were published as they are.
//!
//! Two things are looked for: values that name a person by their form, before
//! an engine runs; and insensitive attributes by which a record looks like
//! fewer than its k, on the tables as they were read back. Either is refused,
//! unless the job names the attribute and says why ([`AcceptedExact`]).

use crate::engine::EngineError;
use crate::microdata::{DirectIdentifier, Role, Schema, Table};
use crate::privacy::Requirements;
use crate::release::{AcceptedExact, PublishedTable, rounded_to_tens};
use crate::verify;

use super::Produced;

/// Characters in a reason.
const REASON_CHARACTERS_MAX: usize = 500;

/// Whether a text can be published as somebody's reason: 1 to 500 characters
/// that are no space at its ends, none of them a control character.
pub fn is_reason(text: &str) -> bool {
    let characters = text.trim().chars().count();
    (1..=REASON_CHARACTERS_MAX).contains(&characters) && !text.chars().any(char::is_control)
}

/// An attribute that identifies people if it is published as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifying {
    /// Name of the attribute.
    pub attribute: String,
    /// What shows it.
    pub by: IdentifyingBy,
}

/// What shows that an attribute identifies people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifyingBy {
    /// The form of its values.
    Form(DirectIdentifier),
    /// So many records look like fewer than their k to who knows it, alone or
    /// with the others that are named.
    Records(u64),
}

impl Identifying {
    /// What is wrong with the attribute, without a figure of the records.
    pub fn words(&self) -> String {
        let name = &self.attribute;
        match self.by {
            IdentifyingBy::Form(form) => format!("`{name}` holds {}", form.words()),
            IdentifyingBy::Records(_) => format!("`{name}` lets records stand out below their k"),
        }
    }

    /// The same, with the number of records in tens.
    pub fn words_with_figures(&self) -> String {
        match self.by {
            IdentifyingBy::Form(_) => self.words(),
            IdentifyingBy::Records(records) => {
                let name = &self.attribute;
                let about = match rounded_to_tens(records) {
                    0 => "a few records stand".to_owned(),
                    tens => format!("about {tens} records stand"),
                };
                format!("`{name}` lets {about} out below their k")
            }
        }
    }
}

/// What is wrong with attributes, in the words given of each, and how to mend
/// it; in one line.
pub fn how_to_mend(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    format!(
        "{}; declare each an identifier or a quasi-identifier, or name it in `accept_exact` with a \
         reason, which is published",
        words.join("; ")
    )
}

/// The same of all of them, with figures: for who holds the records.
pub(super) fn listed(found: &[Identifying]) -> String {
    how_to_mend(found.iter().map(Identifying::words_with_figures))
}

/// Checks that each accepted attribute is one of the schema's that are
/// published, once, with a reason.
///
/// # Errors
/// `InvalidParameter` of `accept_exact`.
pub fn check_accepted(schema: &Schema, accepted: &[AcceptedExact]) -> Result<(), EngineError> {
    for (at, AcceptedExact { attribute, reason }) in accepted.iter().enumerate() {
        let found = schema.find(attribute);
        let is_published =
            found.is_some_and(|index| schema.attribute(index).role != Role::Identifier);
        let is_first = accepted[..at].iter().all(|one| one.attribute != *attribute);
        let wrong = if !is_published {
            "names an attribute that the schema does not publish"
        } else if !is_first {
            "names an attribute twice"
        } else if !is_reason(reason) {
            "a reason has 1 to 500 characters, none of them a control character"
        } else {
            continue;
        };
        return Err(EngineError::InvalidParameter {
            parameter: "accept_exact".into(),
            reason: wrong.into(),
        });
    }
    Ok(())
}

/// The attributes whose values name people by their form.
pub(super) fn look_like_identifiers(table: &Table, accepted: &[AcceptedExact]) -> Vec<Identifying> {
    let found = verify::direct_identifiers(table, accepted).into_iter();
    found
        .map(|(attribute, form)| Identifying {
            attribute: attribute.to_owned(),
            by: IdentifyingBy::Form(form),
        })
        .collect()
}

/// The insensitive attributes by which a record looks like fewer than its k.
pub(super) fn stand_out(
    table: &Table,
    requirements: &Requirements,
    (produced, published): (&Produced, &[PublishedTable]),
) -> Vec<Identifying> {
    let k = verify::k_of_rows(table, requirements, &produced.lineage, published);
    let found = verify::stands_out(
        table.schema(),
        published,
        &k,
        &produced.manifest.accept_exact,
    );
    let found = found.into_iter().map(|one| Identifying {
        attribute: one.attribute,
        by: IdentifyingBy::Records(one.records),
    });
    found.collect()
}
