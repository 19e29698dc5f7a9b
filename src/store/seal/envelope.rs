//! Sealed bytes: AES-256-GCM-SIV with a random nonce.
//!
//! Layout: ciphertext, tag (16 bytes), nonce (12 bytes), format (1 byte). What
//! is fixed stands at the end, so that a chunk of megabytes is sealed and
//! opened where it lies. GCM-SIV (RFC 8452) does not break should a nonce ever
//! come twice: equal bytes at an equal place would then look equal, no more.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};

use super::associated_data::AssociatedData;

/// Why bytes could not be sealed or opened. Says nothing of their content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::store) enum SealError {
    /// Not what was sealed at this place, or sealed by another key.
    #[error("the bytes do not open")]
    Damaged,
    /// The operating system gave no random numbers, or the key is of no use.
    #[error("the bytes cannot be sealed")]
    Unsealable,
}

/// The format that is written.
const FORMAT: u8 = 1;
const TAG_LEN: usize = 16;

/// Bytes that sealing adds.
pub(super) const OVERHEAD: usize = TAG_LEN + NONCE_LEN + 1;

/// A key that seals and opens.
pub(super) struct SealingKey(LessSafeKey);

/// What keys are derived from: `secret`, for the use that `salt` names.
pub(super) fn derivation(salt: &[u8], secret: &[u8; 32]) -> Prk {
    Salt::new(HKDF_SHA256, salt).extract(secret)
}

impl SealingKey {
    /// The key that is derived for sealing.
    pub(super) fn derive(from: &Prk) -> Result<Self, SealError> {
        let key = from
            .expand(&[b"seal"], &AES_256_GCM_SIV)
            .map_err(|_| SealError::Unsealable)?;
        Ok(Self(LessSafeKey::new(UnboundKey::from(key))))
    }

    /// Seals `bytes` at their place.
    pub(super) fn seal(
        &self,
        associated: &AssociatedData<'_>,
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        bytes.reserve_exact(OVERHEAD);
        let mut nonce = [0; NONCE_LEN];
        aws_lc_rs::rand::fill(&mut nonce).map_err(|_| SealError::Unsealable)?;
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(associated.associated_data()),
                &mut bytes,
            )
            .map_err(|_| SealError::Unsealable)?;
        bytes.extend(nonce);
        bytes.push(FORMAT);
        Ok(bytes)
    }

    /// Opens what was sealed at this place by this key.
    pub(super) fn open(
        &self,
        associated: &AssociatedData<'_>,
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        if bytes.len() < OVERHEAD || bytes.pop() != Some(FORMAT) {
            return Err(SealError::Damaged);
        }
        let nonce = bytes.split_off(bytes.len() - NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| SealError::Damaged)?;
        let length = self
            .0
            .open_in_place(nonce, Aad::from(associated.associated_data()), &mut bytes)
            .map_err(|_| SealError::Damaged)?
            .len();
        bytes.truncate(length);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    use super::*;
    use crate::ids::{DatasetId, ReleaseId, WebhookId};
    use crate::store::seal::Purpose;

    fn key(byte: u8) -> SealingKey {
        SealingKey::derive(&derivation(b"test", &[byte; 32])).expect("a key")
    }

    fn dataset(number: u128) -> DatasetId {
        DatasetId::from(uuid::Uuid::from_u128(number))
    }

    fn release(number: u128) -> ReleaseId {
        ReleaseId::from(uuid::Uuid::from_u128(number))
    }

    /// Places that differ from each other in one respect each.
    fn places() -> Vec<AssociatedData<'static>> {
        let owner = uuid::Uuid::from_u128(1);
        let wrapped = |purpose, master_key| AssociatedData::DataKey {
            dataset: dataset(1),
            owner,
            purpose,
            master_key,
        };
        let chunk = |number, epoch, position| AssociatedData::Chunk {
            dataset: dataset(number),
            epoch,
            position,
        };
        let preference = |number, version, lookup| AssociatedData::Preference {
            dataset: dataset(number),
            version,
            lookup,
        };
        let piece = |number, table, position| AssociatedData::Piece {
            release: release(number),
            table,
            position,
        };
        vec![
            chunk(1, 1, 0),
            chunk(2, 1, 0),
            chunk(1, 2, 0),
            chunk(1, 1, 1),
            piece(1, 1, 0),
            piece(2, 1, 0),
            piece(1, 0, 1),
            piece(1, 1, 1),
            preference(1, 1, b"a"),
            preference(2, 1, b"a"),
            preference(1, 2, b"a"),
            preference(1, 1, b"b"),
            AssociatedData::SubjectToken {
                dataset: dataset(1),
                token_hash: &[1; 32],
            },
            AssociatedData::SubjectToken {
                dataset: dataset(1),
                token_hash: &[2; 32],
            },
            AssociatedData::Lineage(release(1)),
            AssociatedData::Lineage(release(2)),
            AssociatedData::Report(release(1)),
            AssociatedData::Verification(release(1)),
            wrapped(Purpose::Records, "one"),
            wrapped(Purpose::Preferences, "one"),
            wrapped(Purpose::Release, "one"),
            wrapped(Purpose::Records, "two"),
            AssociatedData::WebhookSecret {
                webhook: WebhookId::from(owner),
                master_key: "one",
            },
            AssociatedData::WebhookSecret {
                webhook: WebhookId::from(owner),
                master_key: "two",
            },
        ]
    }

    /// As many cases as `VIZARD_PROPERTY_CASES` asks for.
    fn cases() -> Config {
        let cases = std::env::var("VIZARD_PROPERTY_CASES")
            .ok()
            .and_then(|number| number.parse().ok())
            .unwrap_or(64);
        Config {
            cases,
            failure_persistence: None,
            ..Config::default()
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn what_was_sealed_opens_at_its_place_and_nowhere_else(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..24_usize,
        ) {
            let places = places();
            let sealed = key(1).seal(&places[at], bytes.clone()).expect("it seals");
            prop_assert_eq!(sealed.len(), bytes.len() + OVERHEAD);
            for (other, associated) in places.iter().enumerate() {
                let opened = key(1).open(associated, sealed.clone());
                if other == at {
                    prop_assert_eq!(opened.as_ref(), Ok(&bytes));
                } else {
                    prop_assert_eq!(opened, Err(SealError::Damaged));
                }
            }
            prop_assert_eq!(key(2).open(&places[at], sealed), Err(SealError::Damaged));
        }

        #[test]
        fn a_flipped_bit_a_cut_and_a_byte_more_are_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            bit in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), more in any::<u8>(),
        ) {
            let associated = places()[0];
            let sealed = key(1).seal(&associated, bytes).expect("it seals");
            let mut flipped = sealed.clone();
            let bit = bit.index(8 * flipped.len());
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(key(1).open(&associated, flipped), Err(SealError::Damaged));
            let shorter = sealed[..cut.index(sealed.len())].to_vec();
            prop_assert_eq!(key(1).open(&associated, shorter), Err(SealError::Damaged));
            let headless = sealed[1 + cut.index(sealed.len() - 1)..].to_vec();
            prop_assert_eq!(key(1).open(&associated, headless), Err(SealError::Damaged));
            let mut longer = sealed.clone();
            longer.push(more);
            prop_assert_eq!(key(1).open(&associated, longer), Err(SealError::Damaged));
            let mut before = vec![more];
            before.extend(&sealed);
            prop_assert_eq!(key(1).open(&associated, before), Err(SealError::Damaged));
        }
    }

    #[test]
    fn bytes_of_another_format_are_refused() {
        let associated = places()[0];
        let sealed = key(1).seal(&associated, b"bytes".to_vec());
        let sealed = sealed.expect("it seals");
        for format in (0..=u8::MAX).filter(|&format| format != FORMAT) {
            let mut other = sealed.clone();
            *other.last_mut().expect("the format") = format;
            let opened = key(1).open(&associated, other);
            assert_eq!(opened, Err(SealError::Damaged), "format {format}");
        }
    }

    #[test]
    fn two_seals_of_the_same_bytes_differ() {
        let associated = places()[0];
        let seal = || {
            key(1)
                .seal(&associated, b"the same".to_vec())
                .expect("it seals")
        };
        assert_ne!(seal(), seal());
    }
}
