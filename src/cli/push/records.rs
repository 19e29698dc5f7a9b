//! What is uploaded: files that are opened once, their digest, and their bytes
//! as a stream.
//!
//! A file that is put in the place of another one meanwhile changes nothing, and
//! none is ever in memory as a whole. Several tables are the parts of one body
//! (`multipart/form-data`), in the order of their names. Keys of idempotency come
//! from the digest: the same files again are the same request, byte by byte.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use reqwest::Body;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::{Mapping, TableError, to_hex};

use super::super::exit::Exit;
use super::super::parts::read_mapping;
use super::file::{Records, form_of};

/// Bytes that are read at a time.
const PIECE_BYTES: u64 = 256 << 10;

/// An upload that is ready to be sent, any number of times.
pub struct Upload {
    pieces: Arc<[Piece]>,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of what it is made of.
    pub digest: [u8; 32],
    /// Its media type.
    pub media_type: String,
    /// Content coding, where it is packed.
    pub coding: Option<&'static str>,
    /// Its name, for people.
    pub name: String,
}

enum Piece {
    Text(Bytes),
    File(Opened),
}

/// An opened file.
struct Opened {
    file: File,
    bytes: u64,
    digest: [u8; 32],
}

/// A part of a body of several.
struct Part<'a> {
    name: &'a str,
    media_type: &'static str,
    content: Piece,
}

impl Piece {
    fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::File(opened) => opened.bytes,
        }
    }

    fn digest(&self) -> [u8; 32] {
        match self {
            Self::Text(text) => Sha256::digest(text).into(),
            Self::File(opened) => opened.digest,
        }
    }

    /// So many bytes, from a place on.
    fn read(&self, at: u64, count: u64) -> io::Result<Bytes> {
        match self {
            Self::Text(text) => Ok(text.slice(at as usize..(at + count) as usize)),
            Self::File(opened) => {
                let mut piece = vec![0; count as usize];
                // By place: another stream of the same file may be at its end.
                opened.file.read_exact_at(&mut piece, at)?;
                Ok(piece.into())
            }
        }
    }
}

impl Opened {
    fn open(path: &Path) -> Result<Self, Exit> {
        let refused =
            |what: String| Exit::Input(path.display().to_string(), TableError::Read(what));
        // A pipe would wait for ever.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(refused("is no plain file".into()));
        }
        Self::read(path).map_err(|error| refused(error.kind().to_string()))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut piece = vec![0; PIECE_BYTES as usize];
        let mut bytes = 0;
        loop {
            match file.read(&mut piece)? {
                0 => break,
                read => {
                    hash.update(&piece[..read]);
                    bytes += read as u64;
                }
            }
        }
        Ok(Self {
            file,
            bytes,
            digest: hash.finalize().into(),
        })
    }
}

impl Upload {
    /// Opens what a push names, and reads it through.
    pub fn open(records: &Records) -> Result<Self, Exit> {
        match &records.file {
            Some(path) => Self::of_file(path),
            None => Self::of_tables(records),
        }
    }

    fn of_file(path: &Path) -> Result<Self, Exit> {
        let form = form_of(path).ok_or_else(|| unknown_form(path))?;
        let opened = Opened::open(path)?;
        let digest = opened.digest;
        let name = path.display().to_string();
        let media_type = form.media_type.to_owned();
        let mut upload = Self::of_pieces(vec![Piece::File(opened)], digest, media_type, name);
        upload.coding = form.coding;
        Ok(upload)
    }

    fn of_tables(records: &Records) -> Result<Self, Exit> {
        let mut parts = Vec::new();
        if let Some(named) = &records.mapping {
            // What is no mapping is told before anything is sent.
            read_mapping(named)?;
            let shipped = named
                .to_str()
                .filter(|name| Mapping::shipped(name).is_some());
            let (media_type, content) = match shipped {
                Some(name) => ("text/plain", Piece::Text(name.to_owned().into())),
                None => ("application/json", Piece::File(Opened::open(named)?)),
            };
            parts.push(Part {
                name: "mapping",
                media_type,
                content,
            });
        }
        for (name, path) in &records.tables {
            let form = form_of(path).ok_or_else(|| unknown_form(path))?;
            parts.push(Part {
                name,
                media_type: form.media_type,
                content: Piece::File(Opened::open(path)?),
            });
        }
        let names: Vec<&str> = records.tables.keys().map(String::as_str).collect();
        let name = names.join(", ");
        Ok(Self::of_parts(parts, name))
    }

    fn of_parts(parts: Vec<Part<'_>>, name: String) -> Self {
        let mut all = Sha256::new();
        for part in &parts {
            let words = [part.name.as_bytes(), part.media_type.as_bytes()];
            all.update(digest_of(&[words[0], words[1], &part.content.digest()]));
        }
        let digest: [u8; 32] = all.finalize().into();
        // Of the digest: the same files make the same body, and no file holds it.
        let boundary = format!("v-{}", to_hex(&digest));
        let mut pieces = Vec::new();
        for part in parts {
            let head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\
                 Content-Type: {}\r\n\r\n",
                part.name, part.media_type
            );
            pieces.extend([
                Piece::Text(head.into()),
                part.content,
                Piece::Text(Bytes::from_static(b"\r\n")),
            ]);
        }
        // Nothing behind the last boundary: whoever reads up to it has read all.
        pieces.push(Piece::Text(format!("--{boundary}--").into()));
        let media_type = format!("multipart/form-data; boundary={boundary}");
        Self::of_pieces(pieces, digest, media_type, name)
    }

    fn of_pieces(pieces: Vec<Piece>, digest: [u8; 32], media_type: String, name: String) -> Self {
        Self {
            bytes: pieces.iter().map(Piece::bytes).sum(),
            pieces: pieces.into(),
            digest,
            media_type,
            coding: None,
            name,
        }
    }

    /// The bytes, from the first one on.
    pub fn body(&self) -> Body {
        let pieces = Arc::clone(&self.pieces);
        let frames = stream::try_unfold((0, 0), move |(mut at, mut from)| {
            let pieces = Arc::clone(&pieces);
            async move {
                while pieces.get(at).is_some_and(|piece| from == piece.bytes()) {
                    (at, from) = (at + 1, 0);
                }
                let Some(piece) = pieces.get(at) else {
                    return Ok(None);
                };
                let count = PIECE_BYTES.min(piece.bytes() - from);
                let reading = tokio::task::spawn_blocking(move || pieces[at].read(from, count));
                let read = reading.await.map_err(io::Error::other)??;
                Ok::<_, io::Error>(Some((Frame::data(read), (at, from + count))))
            }
        });
        Body::wrap(StreamBody::new(frames))
    }
}

fn unknown_form(path: &Path) -> Exit {
    Exit::Usage(format!("{} has no form of records", path.display()))
}

/// SHA-256 of texts, told apart by where they end.
fn digest_of(texts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// The key of idempotency of a request that these texts decide.
pub fn key_of(texts: &[&[u8]]) -> String {
    format!("push-{}", to_hex(&digest_of(texts)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use http_body_util::BodyExt;

    use super::super::file::Mode;
    use super::*;

    async fn sent(upload: &Upload) -> Bytes {
        let sent = upload.body().collect().await.expect("it is read");
        sent.to_bytes()
    }

    #[tokio::test]
    async fn a_file_is_streamed_from_its_start_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records.csv");
        let content: Vec<u8> = (0..PIECE_BYTES * 2 + 7).map(|at| at as u8).collect();
        std::fs::write(&path, &content).expect("written");
        let upload = Upload::of_file(&path).expect("it is there");
        let expected: [u8; 32] = Sha256::digest(&content).into();
        assert_eq!(upload.digest, expected);
        std::fs::remove_file(&path).expect("it was there");
        for _ in 0..2 {
            assert!(sent(&upload).await == content);
        }
    }

    #[tokio::test]
    async fn tables_are_the_parts_of_one_body_that_is_the_same_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("p.csv"), "id,age\na,1\n").expect("written");
        std::fs::write(path("d.ndjson"), "{}\n").expect("written");
        let tables = [("patients", "p.csv"), ("cases", "d.ndjson")];
        let tables = tables.map(|(name, file)| (name.to_owned(), path(file)));
        let records = Records {
            file: None,
            tables: BTreeMap::from(tables),
            mapping: Some("fhir".into()),
            mode: Mode::Replace,
            allow_loss: false,
        };
        let upload = Upload::open(&records).expect("all are there");
        let (_, boundary) = upload.media_type.split_once("; boundary=").expect("parts");
        let body = sent(&upload).await;
        assert_eq!(body.len() as u64, upload.bytes);
        let text = String::from_utf8(body.to_vec()).expect("text");
        assert!(text.ends_with(&format!("\r\n--{boundary}--")));
        let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
        assert_eq!(parts.len(), 5, "{text}");
        assert!(parts[1].contains("name=\"mapping\"") && parts[1].ends_with("\r\n\r\nfhir\r\n"));
        assert!(parts[2].contains("name=\"cases\"") && parts[2].contains("application/x-ndjson"));
        assert!(parts[3].ends_with("text/csv\r\n\r\nid,age\na,1\n\r\n"));
        let again = Upload::open(&records).expect("all are there");
        assert!(sent(&again).await == body);
    }

    #[test]
    fn keys_tell_texts_apart_by_where_they_end_and_devices_are_no_records() {
        assert_eq!(key_of(&[b"ab", b"c"]), key_of(&[b"ab", b"c"]));
        assert_ne!(key_of(&[b"ab", b"c"]), key_of(&[b"a", b"bc"]));
        assert!(Opened::open(Path::new("/dev/zero")).is_err());
    }
}
