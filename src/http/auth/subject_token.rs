//! Tokens of subjects, and codes of their receipts: `vs_` or `vr_` and 128
//! random bits in hexadecimal.
//!
//! The prefix is their own: no text of a subject can be taken for an API key,
//! nor a token for a code. The store keeps the SHA-256 of the whole text and
//! finds what it stands for by that. Whatever is wrong with one — it never was,
//! its time is over, its dataset was erased — the same read of the store says
//! so, and the same answer is given.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sha2::{Digest, Sha256};

use super::bearer::unauthenticated;
use super::token::random_digits;
use crate::config::Secret;
use crate::http::observe::RequestId;
use crate::http::problem::Problem;
use crate::store::{Act, ReceiptRow, Store, StoreError, SubjectTokenRow};

/// How the audit log names every subject: never who it was.
pub(super) const SUBJECT: &str = "subject";

/// Bytes of randomness: 128 bits, which nobody guesses.
const SECRET_BYTES: usize = 16;

/// What a text of a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectText {
    /// Lets its holder set their own terms, until its time is over.
    Token,
    /// Tells what became of terms, and takes consent back.
    Receipt,
}

impl SubjectText {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Token => "vs_",
            Self::Receipt => "vr_",
        }
    }

    /// Makes one from the operating system's randomness.
    ///
    /// The error says that the system has none to give.
    pub fn generate(self) -> Result<NewSubjectText, rand::rngs::SysError> {
        let text = format!("{}{}", self.prefix(), random_digits::<SECRET_BYTES>()?);
        Ok(NewSubjectText {
            hash: Sha256::digest(&text).into(),
            text: Secret::new(text),
        })
    }

    /// The hash of a text that has this form.
    fn hash_of(self, text: &str) -> Option<[u8; 32]> {
        let digits = text.strip_prefix(self.prefix())?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_own = digits.len() == 2 * SECRET_BYTES && digits.bytes().all(is_digit);
        is_own.then(|| Sha256::digest(text).into())
    }
}

/// A text that was just made: the only moment at which it can be read.
pub struct NewSubjectText {
    /// The whole text.
    pub text: Secret,
    /// What the store keeps of it.
    pub hash: [u8; 32],
}

/// The holder of a text of a subject, with what the store says of it.
#[derive(Clone)]
pub struct SubjectHolder<R> {
    /// What the store knows the text by.
    pub hash: [u8; 32],
    /// What it stands for.
    pub row: R,
    request: Option<RequestId>,
}

/// The holder of a subject token that can be used now.
pub type SubjectBearer = SubjectHolder<SubjectTokenRow>;

/// The holder of a receipt's code.
pub type ReceiptBearer = SubjectHolder<ReceiptRow>;

impl SubjectBearer {
    /// The holder of a token, or the one answer to every other.
    pub(super) async fn of_token(
        store: &Store,
        (bearer, request): (&str, Option<RequestId>),
    ) -> Result<Self, Problem> {
        let find = |hash| store.subject_token_find(hash);
        Self::found(SubjectText::Token, bearer, find, request).await
    }
}

impl ReceiptBearer {
    /// The holder of a code, or the one answer to every other.
    pub(super) async fn of_code(
        store: &Store,
        (bearer, request): (&str, Option<RequestId>),
    ) -> Result<Self, Problem> {
        let find = |hash| store.receipt_find(hash);
        Self::found(SubjectText::Receipt, bearer, find, request).await
    }
}

impl<R> SubjectHolder<R> {
    async fn found<F: Future<Output = Result<R, StoreError>>>(
        text: SubjectText,
        bearer: &str,
        find: impl FnOnce([u8; 32]) -> F,
        request: Option<RequestId>,
    ) -> Result<Self, Problem> {
        let hash = text.hash_of(bearer).ok_or_else(unauthenticated)?;
        let row = find(hash).await.map_err(Self::problem)?;
        Ok(Self { hash, row, request })
    }

    /// What the store is told of an act of this request.
    pub fn act<T>(&self) -> Act<T> {
        let act = Act::by(SUBJECT);
        match &self.request {
            Some(request) => act.in_request(request.as_str()),
            None => act,
        }
    }

    /// What a failure of the store is to the holder: what is gone answers as what
    /// never was.
    pub fn problem(error: StoreError) -> Problem {
        match error {
            StoreError::NotFound { .. } => unauthenticated(),
            error => error.into(),
        }
    }
}

impl<S, R> FromRequestParts<S> for SubjectHolder<R>
where
    S: Send + Sync,
    R: Clone + Send + Sync + 'static,
{
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
            SubjectText::Token.generate().expect("randomness"),
            SubjectText::Token.generate().expect("randomness"),
        );
        assert_ne!(one.text, other.text);
        assert_eq!(one.text.expose().len(), 3 + 32);
        assert_eq!(
            SubjectText::Token.hash_of(one.text.expose()),
            Some(one.hash)
        );
        // A token is no code, and a code no token.
        assert_eq!(SubjectText::Receipt.hash_of(one.text.expose()), None);
        let code = SubjectText::Receipt.generate().expect("randomness");
        assert_eq!(
            SubjectText::Receipt.hash_of(code.text.expose()),
            Some(code.hash)
        );
        assert_eq!(SubjectText::Token.hash_of(code.text.expose()), None);
    }

    #[test]
    fn no_other_text_is_taken_for_a_subject_token() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(
            SubjectText::Token
                .hash_of(&format!("vs_{digits}"))
                .is_some()
        );
        for text in [
            format!("vz_{digits}"),
            digits.to_owned(),
            format!("vs_{}", digits.to_uppercase()),
            format!("vs_{digits}0"),
            "vs_".to_owned(),
            format!("vs_{}", "é".repeat(16)),
        ] {
            assert!(SubjectText::Token.hash_of(&text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn what_is_taken_for_a_subject_token_is_one_as_it_is_made(
            text in near(&["vs_0123456789abcdef0123456789abcdef"]),
        ) {
            if let Some(hash) = SubjectText::Token.hash_of(&text) {
                let digits = text.strip_prefix("vs_").expect("the prefix");
                let bytes = from_hex::<SECRET_BYTES>(digits).expect("digits");
                prop_assert_eq!(to_hex(&bytes), digits);
                prop_assert_eq!(hash, <[u8; 32]>::from(Sha256::digest(&text)));
            }
        }
    }
}
