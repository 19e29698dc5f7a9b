//! The key of a dataset or of a release.
//!
//! 256 random bits, from which two keys are derived (HKDF-SHA-256): one that
//! seals, and one by which a subject is looked up. A lookup is the HMAC-SHA-256
//! of the subject: the same subject has the same one within a dataset, another
//! one in every other dataset, and none that can be computed once the key is
//! destroyed. The random bits themselves are needed for wrapping only; they
//! are overwritten when they leave scope and are never printed.

use aws_lc_rs::hkdf::HKDF_SHA256;
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use super::associated_data::AssociatedData;
use super::envelope::{SealError, SealingKey, derivation};

/// Says what is derived; a master key uses another.
const SALT: &[u8] = b"vizard data key 1";

/// The random bits of a data key, in the open.
pub(super) struct DataKeyBits(pub(super) Zeroizing<[u8; 32]>);

impl DataKeyBits {
    /// New ones.
    pub(super) fn generate() -> Result<Self, SealError> {
        let mut bits = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(bits.as_mut_slice()).map_err(|_| SealError::Unsealable)?;
        Ok(Self(bits))
    }

    /// The key that they are.
    pub(super) fn key(&self) -> Result<DataKey, SealError> {
        let derivation = derivation(SALT, &self.0);
        let lookup = derivation
            .expand(&[b"lookup"], HKDF_SHA256.hmac_algorithm())
            .map_err(|_| SealError::Unsealable)?;
        Ok(DataKey {
            sealing: SealingKey::derive(&derivation)?,
            lookup: hmac::Key::from(lookup),
        })
    }
}

/// A data key, ready for use.
pub(in crate::store) struct DataKey {
    sealing: SealingKey,
    lookup: hmac::Key,
}

impl DataKey {
    /// Seals `bytes` at their place.
    pub(super) fn seal(
        &self,
        associated: &AssociatedData<'_>,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        self.sealing.seal(associated, bytes)
    }

    /// Opens what was sealed at this place.
    pub(super) fn open(
        &self,
        associated: &AssociatedData<'_>,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        self.sealing.open(associated, bytes)
    }

    /// What stands for a subject where rows are looked up.
    pub(super) fn lookup(&self, subject: &str) -> Vec<u8> {
        hmac::sign(&self.lookup, subject.as_bytes())
            .as_ref()
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_one_lookup_a_key_and_another_with_each_key() {
        let first = DataKeyBits::generate()
            .expect("random")
            .key()
            .expect("a key");
        let second = DataKeyBits::generate()
            .expect("random")
            .key()
            .expect("a key");
        assert_eq!(first.lookup("p1"), first.lookup("p1"));
        assert_ne!(first.lookup("p1"), first.lookup("p2"));
        assert_ne!(first.lookup("p1"), second.lookup("p1"));
        assert_eq!(first.lookup("p1").len(), 32);
    }
}
