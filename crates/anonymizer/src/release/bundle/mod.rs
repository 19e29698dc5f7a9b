//! What goes with the tables of a release, so that somebody who has nothing else
//! can read them: a dictionary of every column, and how to open the tables with
//! what analysts use.
//!
//! Both are made from the manifest, from what the schema says of attributes, and
//! from which hierarchies are published: they tell nothing that those do not.

mod dictionary;
mod howto;

pub use dictionary::{AttributeNote, AttributeNotes, data_dictionary};
pub use howto::howto;

use crate::microdata::{Sha256, to_hex};

use super::layout::SECOND_SUFFIX;
use super::manifest::ColumnDescription;
use super::table::Content;

/// Longest name of a file, in bytes, without its ending.
const NAME_BYTES_MAX: usize = 200;

/// Name of the file of an attribute's hierarchy, in the folder `hierarchies`: the
/// attribute's where it can be that of a file.
pub fn hierarchy_file_name(attribute: &str) -> String {
    let mut name = String::new();
    for (at, character) in attribute.chars().enumerate() {
        let is_plain = character.is_alphanumeric() || matches!(character, '-' | '_' | ' ');
        if is_plain || (character == '.' && at > 0) {
            name.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                name.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    if name.len() > NAME_BYTES_MAX {
        name = to_hex(&Sha256::of(attribute));
    }
    format!("{name}.csv")
}

/// The attribute that a column publishes, if it does.
fn attribute_of(column: &ColumnDescription) -> Option<&str> {
    let is_attribute = matches!(
        column.content,
        Content::Generalized | Content::Exact | Content::Fingerprint
    );
    let name = column.name.strip_suffix(SECOND_SUFFIX);
    is_attribute.then(|| name.unwrap_or(&column.name))
}
