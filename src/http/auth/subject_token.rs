//! One-time subject tokens: `vs_` and 128 random bits in hexadecimal.
//!
//! The prefix is their own: no token of a subject can be taken for an API key,
//! nor a key for one. The store keeps the SHA-256 of the whole text and finds a
//! token by it. Whatever is wrong with a token — it never was, it was used, its
//! time is over, its dataset was erased — the same read of the store says so,
//! and the same answer is given.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sha2::{Digest, Sha256};

use super::bearer::unauthenticated;
use super::token::random_digits;
use crate::config::Secret;
use crate::http::observe::RequestId;
use crate::http::problem::Problem;
use crate::store::{Act, Store, StoreError, SubjectTokenRow};

/// How the audit log names every subject: never who it was.
pub(super) const SUBJECT: &str = "subject";

const PREFIX: &str = "vs_";
/// Bytes of randomness: 128 bits, which nobody guesses.
const SECRET_BYTES: usize = 16;

/// A token that was just made: the only moment at which it can be read.
pub struct NewSubjectToken {
    /// The whole token.
    pub text: Secret,
    /// What the store keeps of it.
    pub hash: [u8; 32],
}

impl NewSubjectToken {
    /// Makes a token from the operating system's randomness.
    ///
    /// The error says that the system has none to give.
    pub fn generate() -> Result<Self, rand::rngs::SysError> {
        let text = format!("{PREFIX}{}", random_digits::<SECRET_BYTES>()?);
        Ok(Self {
            hash: Sha256::digest(&text).into(),
            text: Secret::new(text),
        })
    }
}

/// The hash of a text that has the form of a subject token.
fn hash_of(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix(PREFIX)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_token = digits.len() == 2 * SECRET_BYTES && digits.bytes().all(is_digit);
    is_token.then(|| Sha256::digest(text).into())
}

/// The holder of a subject token that can be used now.
#[derive(Clone)]
pub struct SubjectBearer {
    /// What the store knows the token by.
    pub token_hash: [u8; 32],
    /// Whose terms it may set.
    pub row: SubjectTokenRow,
    request: Option<RequestId>,
}

impl SubjectBearer {
    /// The holder of a bearer token, or the one answer to every other.
    pub(super) async fn of(store: &Store, bearer: &str) -> Result<Self, Problem> {
        let token_hash = hash_of(bearer).ok_or_else(unauthenticated)?;
        match store.subject_token_find(token_hash).await {
            Ok(row) => Ok(Self {
                token_hash,
                row,
                request: None,
            }),
            Err(error) => Err(Self::problem(error)),
        }
    }

    /// The same, as it comes with one request.
    pub(super) fn in_request(mut self, request: Option<RequestId>) -> Self {
        self.request = request;
        self
    }

    /// What the store is told of an act of this request.
    pub fn act<T>(&self) -> Act<T> {
        let act = Act::by(SUBJECT);
        match &self.request {
            Some(request) => act.in_request(request.as_str()),
            None => act,
        }
    }

    /// What a failure of the store is to the holder: what is gone answers as a
    /// token that never was.
    pub fn problem(error: StoreError) -> Problem {
        match error {
            StoreError::NotFound { .. } => unauthenticated(),
            error => error.into(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SubjectBearer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let bearer = parts.extensions.get::<Self>().cloned();
        bearer.ok_or_else(unauthenticated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{cases, near};
    use proptest::prelude::*;
    use vizard_anonymizer::microdata::{from_hex, to_hex};

    #[test]
    fn a_new_token_has_128_random_bits_and_is_found_by_its_hash() {
        let (one, other) = (
            NewSubjectToken::generate().expect("randomness"),
            NewSubjectToken::generate().expect("randomness"),
        );
        assert_ne!(one.text, other.text);
        assert_eq!(one.text.expose().len(), 3 + 32);
        assert_eq!(hash_of(one.text.expose()), Some(one.hash));
    }

    #[test]
    fn no_other_text_is_taken_for_a_subject_token() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(hash_of(&format!("vs_{digits}")).is_some());
        for text in [
            format!("vz_{digits}"),
            digits.to_owned(),
            format!("vs_{}", digits.to_uppercase()),
            format!("vs_{digits}0"),
            "vs_".to_owned(),
            format!("vs_{}", "é".repeat(16)),
        ] {
            assert!(hash_of(&text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn what_is_taken_for_a_subject_token_is_one_as_it_is_made(
            text in near(&["vs_0123456789abcdef0123456789abcdef"]),
        ) {
            if let Some(hash) = hash_of(&text) {
                let digits = text.strip_prefix(PREFIX).expect("the prefix");
                let bytes = from_hex::<SECRET_BYTES>(digits).expect("digits");
                prop_assert_eq!(to_hex(&bytes), digits);
                prop_assert_eq!(hash, <[u8; 32]>::from(Sha256::digest(&text)));
            }
        }
    }
}
