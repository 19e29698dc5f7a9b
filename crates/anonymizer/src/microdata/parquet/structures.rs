//! The structures of parquet.thrift, as far as the format's library reads them.
//!
//! The library takes the value of a field that it knows without a look at the
//! type that stands before it. A number that is declared as text would be one
//! thing to our walk and another to the library: from there on the two would
//! read different fields, and a list that the library sees alone may claim
//! billions of elements. So a field that is named here has the type that is
//! written here, or the bytes are broken. Fields that are not named are passed
//! by their own type, in both readings. Source: Apache Parquet,
//! parquet-format, `parquet.thrift`.

use super::thrift::Wire;

/// What the value of a field has to be.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A single value.
    Plain(Wire),
    /// A list of such elements.
    List(&'static Self),
    /// A structure, or a union, with these fields.
    Struct(Fields),
}

/// The fields of a structure that have a fixed type.
pub(super) type Fields = &'static [(i64, Kind)];

const TRUTH: Kind = Kind::Plain(Wire::Truth);
const BYTE: Kind = Kind::Plain(Wire::Byte);
const WHOLE: Kind = Kind::Plain(Wire::Whole);
const DOUBLE: Kind = Kind::Plain(Wire::Double);
const BINARY: Kind = Kind::Plain(Wire::Binary);
const EMPTY: Kind = Kind::Struct(&[]);

/// `FileMetaData`.
pub(super) const FILE_METADATA: Fields = &[
    (1, WHOLE),
    (2, Kind::List(&Kind::Struct(SCHEMA_ELEMENT))),
    (3, WHOLE),
    (4, Kind::List(&Kind::Struct(ROW_GROUP))),
    (5, Kind::List(&KEY_VALUE)),
    (6, BINARY),
    (7, Kind::List(&COLUMN_ORDER)),
];

const SCHEMA_ELEMENT: Fields = &[
    (1, WHOLE),
    (2, WHOLE),
    (3, WHOLE),
    (4, BINARY),
    (5, WHOLE),
    (6, WHOLE),
    (7, WHOLE),
    (8, WHOLE),
    (9, WHOLE),
    (10, LOGICAL_TYPE),
];

const LOGICAL_TYPE: Kind = Kind::Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Kind::Struct(&[(1, WHOLE), (2, WHOLE)])),
    (6, EMPTY),
    (7, TIME_TYPE),
    (8, TIME_TYPE),
    (10, Kind::Struct(&[(1, BYTE), (2, TRUTH)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Kind::Struct(&[(1, BYTE)])),
    (17, Kind::Struct(&[(1, BINARY)])),
    (18, Kind::Struct(&[(1, BINARY), (2, WHOLE)])),
    (19, EMPTY),
]);

const TIME_TYPE: Kind = Kind::Struct(&[(1, TRUTH), (2, TIME_UNIT)]);
const TIME_UNIT: Kind = Kind::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const KEY_VALUE: Kind = Kind::Struct(&[(1, BINARY), (2, BINARY)]);
const COLUMN_ORDER: Kind = Kind::Struct(&[(1, EMPTY), (2, EMPTY)]);

const ROW_GROUP: Fields = &[
    (1, Kind::List(&COLUMN_CHUNK)),
    (2, WHOLE),
    (3, WHOLE),
    (4, Kind::List(&SORTING_COLUMN)),
    (5, WHOLE),
    (6, WHOLE),
    (7, WHOLE),
];

const SORTING_COLUMN: Kind = Kind::Struct(&[(1, WHOLE), (2, TRUTH), (3, TRUTH)]);

const COLUMN_CHUNK: Kind = Kind::Struct(&[
    (1, BINARY),
    (2, WHOLE),
    (3, COLUMN_METADATA),
    (4, WHOLE),
    (5, WHOLE),
    (6, WHOLE),
    (7, WHOLE),
]);

const COLUMN_METADATA: Kind = Kind::Struct(&[
    (1, WHOLE),
    (2, Kind::List(&WHOLE)),
    (3, Kind::List(&BINARY)),
    (4, WHOLE),
    (5, WHOLE),
    (6, WHOLE),
    (7, WHOLE),
    (8, Kind::List(&KEY_VALUE)),
    (9, WHOLE),
    (10, WHOLE),
    (11, WHOLE),
    (12, STATISTICS),
    (13, Kind::List(&PAGE_ENCODING_STATS)),
    (14, WHOLE),
    (15, WHOLE),
    (16, SIZE_STATISTICS),
    (17, GEOSPATIAL_STATISTICS),
]);

const STATISTICS: Kind = Kind::Struct(&[
    (1, BINARY),
    (2, BINARY),
    (3, WHOLE),
    (4, WHOLE),
    (5, BINARY),
    (6, BINARY),
    (7, TRUTH),
    (8, TRUTH),
    (9, WHOLE),
]);

const PAGE_ENCODING_STATS: Kind = Kind::Struct(&[(1, WHOLE), (2, WHOLE), (3, WHOLE)]);
const SIZE_STATISTICS: Kind =
    Kind::Struct(&[(1, WHOLE), (2, Kind::List(&WHOLE)), (3, Kind::List(&WHOLE))]);
const GEOSPATIAL_STATISTICS: Kind = Kind::Struct(&[(1, BOUNDING_BOX), (2, Kind::List(&WHOLE))]);

const BOUNDING_BOX: Kind = Kind::Struct(&[
    (1, DOUBLE),
    (2, DOUBLE),
    (3, DOUBLE),
    (4, DOUBLE),
    (5, DOUBLE),
    (6, DOUBLE),
    (7, DOUBLE),
    (8, DOUBLE),
]);

/// `PageHeader`.
pub(super) const PAGE_HEADER: Fields = &[
    (1, WHOLE),
    (2, WHOLE),
    (3, WHOLE),
    (4, WHOLE),
    (5, DATA_PAGE_HEADER),
    (6, EMPTY),
    (7, Kind::Struct(&[(1, WHOLE), (2, WHOLE), (3, TRUTH)])),
    (8, DATA_PAGE_HEADER_V2),
];

const DATA_PAGE_HEADER: Kind = Kind::Struct(&[
    (1, WHOLE),
    (2, WHOLE),
    (3, WHOLE),
    (4, WHOLE),
    (5, STATISTICS),
]);

const DATA_PAGE_HEADER_V2: Kind = Kind::Struct(&[
    (1, WHOLE),
    (2, WHOLE),
    (3, WHOLE),
    (4, WHOLE),
    (5, WHOLE),
    (6, WHOLE),
    (7, TRUTH),
    (8, STATISTICS),
]);
