//! The subject's key in a row of a part, as it is compared.

use crate::microdata::cell::trimmed;
use crate::microdata::dialect::cell_rules::CellRules;
use crate::microdata::schema::Schema;
use crate::microdata::subjects::KeyHasher;

/// Reads keys as records do: in the dialect of the schema, and normalized by its
/// rules.
pub(super) struct Keys<'t> {
    schema: &'t Schema,
    rules: CellRules,
    hasher: KeyHasher,
}

impl<'t> Keys<'t> {
    /// For the keys of a schema.
    pub fn new(schema: &'t Schema, hasher: KeyHasher) -> Self {
        Self {
            schema,
            rules: CellRules::of(schema),
            hasher,
        }
    }

    /// The hash of a key; `None` where the cell is empty.
    pub fn hash(&self, cell: &[u8], is_written: bool) -> Option<[u64; 2]> {
        let at = self.schema.subject_key().at();
        // An identifier becomes no other text, and needs no room.
        let mut no_room = Vec::new();
        let cell = self
            .rules
            .canonical(at, trimmed(cell), (is_written, &mut no_room));
        let key = self.schema.normalized_key_cell(cell);
        (!key.is_empty()).then(|| self.hasher.hash(&key))
    }
}
