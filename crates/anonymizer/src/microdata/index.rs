//! Typed positions, so that a record can never be mistaken for a code.
//!
//! Each is a plain number underneath: `u16` for attributes (a schema has at
//! most a few thousand), `u32` for everything that is counted in records.

use serde::{Deserialize, Serialize};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The position as a `usize`, to index a slice with.
            #[inline]
            pub const fn at(self) -> usize {
                self.0 as usize
            }

            /// The typed form of a position counted with `usize`.
            ///
            /// Positions come from collections that the limits of the service
            /// keep far below the width of the index.
            #[inline]
            pub const fn from_usize(position: usize) -> Self {
                debug_assert!(position <= <$inner>::MAX as usize);
                Self(position as $inner)
            }
        }
    };
}

index!(
    /// Position of an attribute in its schema.
    AttributeIndex,
    u16
);
index!(
    /// Position of a record in a dataset version, in order of upload.
    RecordIndex,
    u32
);
index!(
    /// Position of a subject among the distinct subjects of a dataset version,
    /// in order of first appearance. With one record a subject it equals the
    /// position of the record.
    SubjectIndex,
    u32
);
index!(
    /// Position of a value in its attribute's ordered domain.
    Code,
    u32
);
