//! Walks Thrift's compact protocol without building anything.
//!
//! A footer of a few bytes may claim lists of millions, structures inside
//! structures, or the same field twice; a library that allocates by such
//! claims can be made to take any amount of memory. The walk costs none: it
//! counts list elements, bounds the depth, and takes fields in ascending
//! order only, as every writer puts them, so that a field read here is the
//! one that the library reads. Where the library knows a field it does not
//! look at its type: `structures` says which type that is. Compact protocol:
//! Apache Thrift, doc/specs/thrift-compact-protocol.md.

use super::structures::{Fields, Kind};

/// Structures and lists inside each other.
const DEPTH_MAX: usize = 12;

/// Bytes that are no sound Thrift structure, or one beyond the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// Types of values on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Truth,
    Byte,
    /// Whole numbers of 16, 32 and 64 bits.
    Whole,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Wire {
    fn of(code: u8) -> Result<Self, Broken> {
        Ok(match code {
            1 | 2 => Self::Truth,
            3 => Self::Byte,
            4..=6 => Self::Whole,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(Broken),
        })
    }
}

/// A walk over bytes.
pub(super) struct Walk<'a> {
    rest: &'a [u8],
    /// Elements that all further lists may have together.
    elements_left: usize,
}

impl<'a> Walk<'a> {
    /// At the first of `bytes`; all lists have at most `elements_max` elements.
    pub fn new(bytes: &'a [u8], elements_max: usize) -> Self {
        Self {
            rest: bytes,
            elements_left: elements_max,
        }
    }

    /// Bytes not yet walked.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Takes the structure's next field header; `last` is the field before,
    /// 0 in front of the first. Nothing at the structure's end.
    pub fn field(&mut self, last: &mut i64) -> Result<Option<(i64, Wire)>, Broken> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let id = match i64::from(head >> 4) {
            0 => self.whole()?,
            step => *last + step,
        };
        if id <= *last || id > i64::from(i16::MAX) {
            return Err(Broken);
        }
        *last = id;
        Ok(Some((id, Wire::of(head & 0x0F)?)))
    }

    /// Takes a whole number.
    pub fn whole(&mut self) -> Result<i64, Broken> {
        let folded = self.varint()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// Takes a run of bytes.
    pub fn binary(&mut self) -> Result<&'a [u8], Broken> {
        let length = usize::try_from(self.varint()?).map_err(|_| Broken)?;
        self.take(length)
    }

    /// Takes the header of a list: the number of its elements, and their type.
    pub fn list(&mut self) -> Result<(usize, Wire), Broken> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| Broken)?,
            count => usize::from(count),
        };
        self.elements_left = self.elements_left.checked_sub(count).ok_or(Broken)?;
        // An empty list may leave its type open.
        let element = match count {
            0 => Wire::Byte,
            _ => Wire::of(head & 0x0F)?,
        };
        Ok((count, element))
    }

    /// Passes a field's value.
    pub fn skip(&mut self, wire: Wire) -> Result<(), Broken> {
        match wire {
            // A field of this type has its value in its header.
            Wire::Truth => Ok(()),
            wire => self.pass(wire, DEPTH_MAX),
        }
    }

    /// Passes a structure whose fields have the types of `fields`, as far as
    /// those are named.
    pub fn structure(&mut self, fields: Fields) -> Result<(), Broken> {
        self.pass_kind(Kind::Struct(fields), Wire::Struct, DEPTH_MAX)
    }

    fn pass_kind(&mut self, kind: Kind, wire: Wire, depth: usize) -> Result<(), Broken> {
        let inner = depth.checked_sub(1).ok_or(Broken)?;
        match (kind, wire) {
            (Kind::Plain(Wire::Truth), Wire::Truth) => Ok(()),
            (Kind::Plain(expected), wire) if wire == expected => self.pass(wire, depth),
            (Kind::List(element), Wire::List) => {
                let (count, wire) = self.list()?;
                (0..count).try_for_each(|_| self.pass_kind(*element, wire, inner))
            }
            (Kind::Struct(fields), Wire::Struct) => {
                let mut last = 0;
                while let Some((id, wire)) = self.field(&mut last)? {
                    match fields.iter().find(|&&(named, _)| named == id) {
                        Some(&(_, kind)) => self.pass_kind(kind, wire, inner)?,
                        None if wire == Wire::Truth => {}
                        None => self.pass(wire, inner)?,
                    }
                }
                Ok(())
            }
            _ => Err(Broken),
        }
    }

    fn pass(&mut self, wire: Wire, depth: usize) -> Result<(), Broken> {
        let depth = depth.checked_sub(1).ok_or(Broken)?;
        match wire {
            Wire::Byte => self.take(1).map(drop),
            Wire::Whole => self.varint().map(drop),
            Wire::Double => self.take(8).map(drop),
            Wire::Uuid => self.take(16).map(drop),
            Wire::Binary => self.binary().map(drop),
            // Parquet's structures have neither maps nor lists of truths. To
            // the library a truth in a list takes no byte: it would count to
            // whatever number the list claims.
            Wire::Map | Wire::Truth => Err(Broken),
            Wire::List => {
                let (count, element) = self.list()?;
                (0..count).try_for_each(|_| self.pass(element, depth))
            }
            Wire::Struct => {
                let mut last = 0;
                while let Some((_, wire)) = self.field(&mut last)? {
                    match wire {
                        Wire::Truth => {}
                        wire => self.pass(wire, depth)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Broken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Broken)?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes one structure; how many bytes are left behind it.
    fn pass(bytes: &[u8]) -> Result<usize, Broken> {
        let mut walk = Walk::new(bytes, 100);
        walk.skip(Wire::Struct).map(|()| walk.left())
    }

    #[test]
    fn a_structure_of_every_type_is_passed_to_its_end() {
        let bytes = [
            0x11, // 1: true
            0x13, 7, // 2: a byte
            0x15, 0x80, 0x01, // 3: a whole number
            0x17, 0, 0, 0, 0, 0, 0, 0, 0, // 4: a double
            0x18, 2, b'a', b'b', // 5: bytes
            0x19, 0x25, 1, 2, // 6: a list of two whole numbers
            0x1C, 0x15, 2, 0, // 7: a structure
            0x05, 0x3C, 2, // 30: a whole number, its id written out
            0, 99,
        ];
        assert_eq!(pass(&bytes), Ok(1));
    }

    #[test]
    fn numbers_are_unfolded() {
        for (bytes, value) in [
            (&[0][..], 0),
            (&[1], -1),
            (&[2], 1),
            (&[0xFE, 0xFF, 0xFF, 0xFF, 0x0F], i64::from(i32::MAX)),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], i64::from(i32::MIN)),
        ] {
            assert_eq!(Walk::new(bytes, 0).whole(), Ok(value));
        }
    }

    #[test]
    fn what_is_claimed_and_not_there_is_broken() {
        for bytes in [
            &[][..],
            &[0x15],                                           // no value
            &[0x15, 0x80],                                     // a number without end
            &[0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0],          // bytes without end
            &[0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0, 0], // a list of billions
            &[0x19, 0xF3, 101, 0],                             // more elements than may be
            &[0x15, 2, 0x05, 2, 2, 0],                         // field 1 twice
            &[0x1E, 0],                                        // no such type
        ] {
            assert_eq!(pass(bytes), Err(Broken), "{bytes:?}");
        }
        // Structures inside structures.
        assert_eq!(pass(&[0x1C; 100_000]), Err(Broken));
    }
}
