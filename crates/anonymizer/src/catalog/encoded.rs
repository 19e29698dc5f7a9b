//! Tables as text, in room beside the memory until the release is stored.
//!
//! The text of a table is as long as the table itself. It is written piece by
//! piece into room that the caller gives, and its readers, the verifier first, read
//! it there.

use std::io;
use std::ops::Range;

use crate::microdata::Spill;
use crate::release::{
    CsvEncoder, Describing, Format, PieceText, PublishedTable, TableDescription, Transcoder,
    WireError, WireFault, decode_csv,
};

/// Bytes of a piece, at most, unless one row is longer. Each thread holds a few
/// of them while text is written, and one while it is read.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Room for the text of one table.
pub type TextRoom = Box<dyn Spill + Send + Sync>;

/// Gives the room for the text of the table with this name; it is empty.
pub type TextRooms<'r> = dyn FnMut(&str) -> io::Result<TextRoom> + 'r;

/// Room in memory for every table.
///
/// # Errors
/// None.
pub fn in_memory(_table: &str) -> io::Result<TextRoom> {
    Ok(Box::new(Vec::new()))
}

/// A table as it is stored and sent: canonical CSV text, cut at rows.
pub struct EncodedTable {
    /// Entry of the manifest.
    pub description: TableDescription,
    /// Parts of the text; one behind the other, they are one CSV file.
    pub pieces: Vec<Piece>,
    room: TextRoom,
}

/// A part of a table's text, cut at a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the text stands; the first piece begins with the header.
    pub bytes: Range<u64>,
    /// Rows in it.
    pub rows: u64,
}

/// A table that is being written, chunk after chunk of its rows.
pub(super) struct TableWriter {
    encoder: CsvEncoder,
    describing: Describing,
    pieces: Vec<Piece>,
    room: TextRoom,
    end: u64,
}

impl TableWriter {
    /// A table whose text goes into `room`, which is empty.
    pub(super) fn new(room: TextRoom) -> Self {
        Self {
            encoder: CsvEncoder::default(),
            describing: Describing::default(),
            pieces: Vec::new(),
            room,
            end: 0,
        }
    }

    /// Writes the next rows; at least one call, which may be of no rows, makes a table.
    ///
    /// # Errors
    /// The first that the room says.
    pub(super) fn rows(&mut self, table: &PublishedTable) -> io::Result<()> {
        let mut written = Ok(());
        self.describing.rows(table);
        self.encoder.rows(table, TEXT_BYTES_MAX, &mut |text, rows| {
            if written.is_ok() {
                written = self.room.append(&text);
            }
            let start = self.end;
            self.end += text.len() as u64;
            self.pieces.push(Piece {
                bytes: start..self.end,
                rows,
            });
        });
        written
    }

    /// The table as it was written.
    pub(super) fn finish(self) -> EncodedTable {
        EncodedTable {
            description: self.describing.finish(&self.encoder.finish()),
            pieces: self.pieces,
            room: self.room,
        }
    }
}

impl EncodedTable {
    /// Writes a table into `room`.
    ///
    /// # Errors
    /// The first that the room says.
    pub(super) fn write(table: &PublishedTable, room: TextRoom) -> io::Result<Self> {
        let mut writer = TableWriter::new(room);
        writer.rows(table)?;
        Ok(writer.finish())
    }

    /// The text of pieces that follow each other.
    ///
    /// # Errors
    /// What the room says.
    pub fn text(&self, pieces: &[Piece]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let (Some(first), Some(last)) = (pieces.first(), pieces.last()) {
            self.read(first.bytes.start..last.bytes.end, &mut text)?;
        }
        Ok(text)
    }

    fn read(&self, bytes: Range<u64>, text: &mut Vec<u8>) -> io::Result<()> {
        text.resize((bytes.end - bytes.start) as usize, 0);
        self.room.read_at(bytes.start, text)
    }

    /// The table in another format, as one file.
    ///
    /// # Errors
    /// What the room or `out` says; text that cannot be read back.
    pub fn transcode(&self, format: Format, out: &mut dyn io::Write) -> io::Result<()> {
        let broken =
            |error: WireError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
        let mut transcoder = Transcoder::new(&self.description, format).map_err(broken)?;
        let (mut text, mut bytes) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            self.read(piece.bytes.clone(), &mut text)?;
            transcoder.piece(&text, &mut bytes).map_err(broken)?;
            out.write_all(&bytes)?;
            bytes.clear();
        }
        transcoder.finish(&mut bytes).map_err(broken)?;
        out.write_all(&bytes)
    }

    /// The table as anyone reads it from its text.
    ///
    /// # Errors
    /// Text that is not canonical; `Unreadable` where the room fails.
    pub fn read_back(&self) -> Result<PublishedTable, WireError> {
        let standing = |piece| Standing { table: self, piece };
        decode_csv(&self.description, self.pieces.iter().map(standing))
    }
}

/// The file that a table makes in `format`, as [`EncodedTable`] writes it.
///
/// # Errors
/// None for tables that were read from such a file; of others, that their text
/// does not read back.
pub fn written_file(table: &PublishedTable, format: Format) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let written = EncodedTable::write(table, in_memory(&table.name)?)?;
    written.transcode(format, &mut file)?;
    Ok(file)
}

/// A piece that is read where it stands.
struct Standing<'t> {
    table: &'t EncodedTable,
    piece: &'t Piece,
}

impl PieceText for Standing<'_> {
    fn text<'a>(&'a self, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], WireError> {
        let read = self.table.read(self.piece.bytes.clone(), buffer);
        read.map_err(|_| WireFault::Unreadable)?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Cells, Content, PublishedColumn};

    fn table(rows: u64) -> PublishedTable {
        PublishedTable {
            name: "groups".into(),
            columns: vec![PublishedColumn {
                name: "group".into(),
                content: Content::Group,
                kind: None,
                cells: Cells::Numbers((1..=rows).map(|row| row * 1_000_000_007).collect()),
            }],
        }
    }

    /// Is full for one append, the one after so many; forgets what it took.
    struct Leaky(Option<u32>);

    impl Spill for Leaky {
        fn append(&mut self, _bytes: &[u8]) -> io::Result<()> {
            let left = self.0;
            self.0 = left.and_then(|left| left.checked_sub(1));
            match left {
                Some(0) => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(()),
            }
        }

        fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::UnexpectedEof.into())
        }

        fn clear(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn text_of_several_pieces_is_one_file_and_reads_back() {
        let table = table(300_000);
        let room = in_memory("groups").unwrap();
        let encoded = EncodedTable::write(&table, room).unwrap();
        assert!(encoded.pieces.len() > 3);
        let rows: u64 = encoded.pieces.iter().map(|piece| piece.rows).sum();
        assert_eq!(rows, 300_000);
        assert_eq!(encoded.read_back(), Ok(table.canonical()));
        let text = encoded.text(&encoded.pieces).unwrap();
        let each = encoded.pieces.iter();
        let each = each.map(|piece| encoded.text(std::slice::from_ref(piece)).unwrap());
        assert_eq!(each.collect::<Vec<_>>().concat(), text);
        assert!(text.starts_with(b"group\n1000000007\n"));
        assert_eq!(encoded.text(&[]).unwrap(), b"");
    }

    #[test]
    fn a_table_that_comes_in_chunks_is_the_same_file() {
        let table = table(3_000);
        let whole = EncodedTable::write(&table, in_memory("groups").unwrap()).unwrap();
        let mut writer = TableWriter::new(in_memory("groups").unwrap());
        let Cells::Numbers(numbers) = &table.columns[0].cells else {
            unreachable!();
        };
        for numbers in [&numbers[..0], &numbers[..1], &numbers[1..1], &numbers[1..]] {
            let mut chunk = table.clone();
            chunk.columns[0].cells = Cells::Numbers(numbers.to_vec());
            writer.rows(&chunk).unwrap();
        }
        let chunks = writer.finish();
        assert_eq!(chunks.description, whole.description);
        assert_eq!(
            chunks.text(&chunks.pieces).unwrap(),
            whole.text(&whole.pieces).unwrap()
        );
    }

    #[test]
    fn room_that_was_full_once_is_an_error_and_no_table_with_a_hole() {
        for appends in [0, 1, 2] {
            let written = EncodedTable::write(&table(300_000), Box::new(Leaky(Some(appends))));
            let full = written.err().map(|error| error.kind());
            assert_eq!(full, Some(io::ErrorKind::StorageFull));
        }
    }

    #[test]
    fn room_that_lost_its_text_is_told_from_text_that_does_not_read() {
        let encoded = EncodedTable::write(&table(3), Box::new(Leaky(None))).unwrap();
        assert_eq!(encoded.read_back(), Err(WireFault::Unreadable.into()));
        assert!(encoded.text(&encoded.pieces).is_err());
    }
}
