//! From stored pieces to the form that is wanted.

use std::io;

use vizard_anonymizer::release::{Packed, TableDescription, Transcoder, Unpacker};

use super::Form;
use crate::http::coding::Deflater;

/// Turns pieces into the form that is wanted, one after the other.
pub(super) enum Maker {
    /// Sent as it is stored: zstd frames, one behind the other.
    AsStored,
    /// Unpacked, and perhaps packed in another way.
    Canonical(Unpacker, Deflater),
    /// Turned into another format first.
    Transcoded(Unpacker, Box<Transcoder>, Deflater),
}

impl Maker {
    pub(super) fn new(description: &TableDescription, form: Form) -> io::Result<Self> {
        if form.is_as_stored() {
            return Ok(Self::AsStored);
        }
        let (unpacker, deflater) = (Unpacker::default(), Deflater::new(form.coding)?);
        if form.is_canonical() {
            return Ok(Self::Canonical(unpacker, deflater));
        }
        let transcoder = Transcoder::new(description, form.format).map_err(io::Error::other)?;
        Ok(Self::Transcoded(unpacker, Box::new(transcoder), deflater))
    }

    /// Takes some of a piece and answers what that becomes, which may be
    /// nothing yet; `None` once the piece is used up.
    pub(super) fn take(&mut self, piece: &mut Packed) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::AsStored => {
                let rest = piece.take();
                Ok((!rest.is_empty()).then_some(rest))
            }
            Self::Canonical(unpacker, deflater) => match unpacker.frame(piece)? {
                Some(text) => deflater.piece(text).map(Some),
                None => Ok(None),
            },
            Self::Transcoded(unpacker, transcoder, deflater) => {
                // A transcoder wants whole rows, and a frame ends anywhere.
                let Some(mut text) = unpacker.frame(piece)? else {
                    return Ok(None);
                };
                while let Some(more) = unpacker.frame(piece)? {
                    text.extend(more);
                }
                let mut out = Vec::new();
                let transcoded = transcoder.piece(&text, &mut out);
                transcoded.map_err(io::Error::other)?;
                deflater.piece(out).map(Some)
            }
        }
    }

    /// What comes behind the last piece.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::AsStored => Ok(Vec::new()),
            Self::Canonical(_, deflater) => deflater.finish(),
            Self::Transcoded(_, transcoder, mut deflater) => {
                let mut out = Vec::new();
                transcoder.finish(&mut out).map_err(io::Error::other)?;
                let mut ready = deflater.piece(out)?;
                ready.extend(deflater.finish()?);
                Ok(ready)
            }
        }
    }
}
