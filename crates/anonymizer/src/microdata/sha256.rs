//! SHA-256 of what may be large: contents of uploads, tables, stored pieces.
//!
//! The digests are on the way of every record, and processors without SHA
//! instructions are in use: there the assembly of aws-lc takes half the time
//! of `sha2`. Builds without that library (feature `aws-lc`), which needs a C
//! compiler, have `sha2`; the bytes are the same.

/// A digest in the making.
pub struct Sha256(Inner);

#[cfg(feature = "aws-lc")]
type Inner = aws_lc_rs::digest::Context;
#[cfg(not(feature = "aws-lc"))]
type Inner = sha2::Sha256;

impl Sha256 {
    /// The digest of nothing.
    #[expect(clippy::new_without_default, reason = "a default digest says nothing")]
    pub fn new() -> Self {
        #[cfg(feature = "aws-lc")]
        let inner = Inner::new(&aws_lc_rs::digest::SHA256);
        #[cfg(not(feature = "aws-lc"))]
        let inner = <Inner as sha2::Digest>::new();
        Self(inner)
    }

    /// Adds bytes behind those before.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        #[cfg(feature = "aws-lc")]
        self.0.update(bytes.as_ref());
        #[cfg(not(feature = "aws-lc"))]
        sha2::Digest::update(&mut self.0, bytes.as_ref());
    }

    /// The digest of all bytes.
    pub fn finish(self) -> [u8; 32] {
        #[cfg(feature = "aws-lc")]
        {
            let mut digest = [0; 32];
            digest.copy_from_slice(self.0.finish().as_ref());
            digest
        }
        #[cfg(not(feature = "aws-lc"))]
        sha2::Digest::finalize(self.0).into()
    }

    /// The digest of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> [u8; 32] {
        let mut digest = Self::new();
        digest.update(bytes);
        digest.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1 and B.2.
        let hex = |bytes: &str| crate::microdata::to_hex(&Sha256::of(bytes));
        assert_eq!(
            hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }

    proptest::proptest! {
        #[test]
        fn parts_digest_as_the_whole(bytes: Vec<u8>, at: proptest::sample::Index) {
            let at = at.index(bytes.len() + 1);
            let mut parts = Sha256::new();
            parts.update(&bytes[..at]);
            parts.update(&bytes[at..]);
            let whole: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(&bytes).into();
            assert_eq!(parts.finish(), whole);
        }
    }
}
