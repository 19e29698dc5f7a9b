//! What only the caller can open again.
//!
//! An answer may hold a secret that is shown once, and a body terms of a
//! person. Neither may lie open in the store. From the caller's own secret and
//! the idempotency key two keys are derived (HKDF-SHA-256): one for hashes of
//! request and body (HMAC), so that they cannot be guessed from the outside,
//! and one that seals the answer (AES-256-GCM-SIV, random nonce before the
//! text). The store gets hashes and sealed bytes, never a key.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{digest, hkdf, hmac};

use crate::http::answer::Answer;

/// Names this use of HKDF.
const SALT: &[u8] = b"vizard-idempotency/1";

/// Bytes of every key and hash here.
const LENGTH: usize = 32;

struct KeyLength;

impl hkdf::KeyType for KeyLength {
    fn len(&self) -> usize {
        LENGTH
    }
}

/// The keys of one caller and one idempotency key.
pub struct Secrets {
    seal: RandomizedNonceKey,
    mac: hmac::Key,
}

impl Secrets {
    /// The keys for what `caller` (a bearer token) does under `key`; `None`
    /// only where the library fails.
    pub fn derive(caller: &str, key: &str) -> Option<Self> {
        // Behind its length, so that no two pairs run into one.
        let length = (caller.len() as u64).to_be_bytes();
        let secret = [&length[..], caller.as_bytes(), key.as_bytes()].concat();
        let root = hkdf::Salt::new(hkdf::HKDF_SHA256, SALT).extract(&secret);
        let expand = |purpose: &[u8]| {
            let mut bytes = [0; LENGTH];
            let purpose = [purpose];
            root.expand(&purpose, KeyLength)
                .ok()?
                .fill(&mut bytes)
                .ok()?;
            Some(bytes)
        };
        Some(Self {
            seal: RandomizedNonceKey::new(&AES_256_GCM_SIV, &expand(b"seal")?).ok()?,
            mac: hmac::Key::new(hmac::HMAC_SHA256, &expand(b"mac")?),
        })
    }

    /// A hash to be updated piece by piece; `purpose` keeps hashes apart.
    pub fn hash(&self, purpose: &[u8]) -> Hash {
        let mut context = hmac::Context::with_key(&self.mac);
        context.update(purpose);
        Hash(context)
    }

    /// Seals an answer to a request with this hash.
    pub fn seal(&self, answer: &Answer, request: &[u8; LENGTH]) -> Option<Vec<u8>> {
        let mut text = answer.write()?;
        let aad = Aad::from(request);
        let nonce = self.seal.seal_in_place_append_tag(aad, &mut text).ok()?;
        Some([&nonce.as_ref()[..], &text].concat())
    }

    /// Opens what `seal` made; `None` where it was made by other keys, for
    /// another request, or was changed.
    pub fn open(&self, sealed: &[u8], request: &[u8; LENGTH]) -> Option<Answer> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let aad = Aad::from(request);
        Answer::read(self.seal.open_in_place(nonce, aad, &mut text).ok()?)
    }
}

/// A hash on its way.
#[derive(Clone)]
pub struct Hash(hmac::Context);

impl Hash {
    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The hash of all pieces.
    pub fn finish(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(self.0.sign().as_ref());
        bytes
    }
}

/// The hash under which a key is kept: keys are random texts of clients.
pub fn key_hash(principal: &str, key: &str) -> [u8; LENGTH] {
    let length = (principal.len() as u64).to_be_bytes();
    let text = [SALT, &length[..], principal.as_bytes(), key.as_bytes()].concat();
    let mut bytes = [0; LENGTH];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, &text).as_ref());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: [u8; 32] = [5; 32];

    #[test]
    fn a_sealed_answer_is_opened_by_the_same_caller_key_and_request_alone() {
        let secrets = Secrets::derive("vz_token", "key-1").expect("keys");
        let answer = Answer::ok(&"a secret shown once");
        let sealed = secrets.seal(&answer, &REQUEST).expect("it is sealed");
        let shown = String::from_utf8_lossy(&sealed).into_owned();
        assert!(!shown.contains("secret"), "it lies open");
        assert_eq!(secrets.open(&sealed, &REQUEST), Some(answer));
        assert_eq!(secrets.open(&sealed, &[6; 32]), None);
        for (caller, key) in [
            ("vz_other", "key-1"),
            ("vz_token", "key-2"),
            ("vz_tokenk", "ey-1"),
        ] {
            let other = Secrets::derive(caller, key).expect("keys");
            assert_eq!(other.open(&sealed, &REQUEST), None, "{caller} {key}");
        }
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert_eq!(secrets.open(&flipped, &REQUEST), None, "byte {at}");
        }
        assert_eq!(secrets.open(&sealed[..5], &REQUEST), None);
    }

    #[test]
    fn a_hash_depends_on_the_caller_and_not_on_the_pieces() {
        let secrets = Secrets::derive("vz_token", "key-1").expect("keys");
        let hash = |secrets: &Secrets, pieces: &[&str]| {
            let mut hash = secrets.hash(b"body");
            pieces
                .iter()
                .for_each(|piece| hash.update(piece.as_bytes()));
            hash.finish()
        };
        assert_eq!(hash(&secrets, &["ab", "c"]), hash(&secrets, &["a", "bc"]));
        assert_ne!(hash(&secrets, &["abc"]), hash(&secrets, &["abd"]));
        let other = Secrets::derive("vz_other", "key-1").expect("keys");
        assert_ne!(hash(&secrets, &["abc"]), hash(&other, &["abc"]));
    }
}
