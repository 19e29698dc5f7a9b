//! Tokens: `vz_<id>_<secret>`.
//!
//! The id finds the key, the secret (256 random bits in hexadecimal) opens it.
//! The store keeps the secret's SHA-256 alone; guessing 256 bits is hopeless,
//! so a slow hash would only slow the service down. Comparison takes the same
//! time whatever is wrong.

use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;
use vizard_anonymizer::microdata::to_hex;

use super::issue::KeyWish;
use crate::config::Secret;
use crate::ids::KeyId;
use crate::store::{KeyRow, NewKey};

/// Bytes of a secret.
const SECRET_BYTES: usize = 32;

/// A token as a request shows it.
pub(super) struct Token {
    /// The key it claims to open.
    pub key: KeyId,
    secret_hash: [u8; 32],
}

impl Token {
    /// Reads `vz_<id>_<secret>`, the id spelled as in a new token; `None` for
    /// any other text: attempts are counted by their text, and one key has one.
    pub fn read(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("vz_")?.split_once('_')?;
        let key = Uuid::try_parse(id).ok()?;
        let mut canonical = Uuid::encode_buffer();
        if *key.simple().encode_lower(&mut canonical) != *id {
            return None;
        }
        Some(Self {
            key: KeyId::from(key),
            secret_hash: Sha256::digest(secret).into(),
        })
    }

    /// Whether the secret is the key's, and the key was neither revoked nor has expired.
    pub fn opens(&self, key: &KeyRow) -> bool {
        let same = self.secret_hash.ct_eq(&key.secret_hash);
        bool::from(same) && key.is_live()
    }
}

/// So many bytes of the operating system's randomness, in hexadecimal digits.
pub(super) fn random_digits<const BYTES: usize>() -> Result<String, rand::rngs::SysError> {
    let mut bytes = [0_u8; BYTES];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(to_hex(&bytes))
}

/// A token that was just made: the only moment at which it can be read.
pub struct NewToken {
    /// The key that it opens.
    pub key: KeyId,
    /// The whole token.
    pub text: Secret,
    /// What the store keeps of it.
    pub secret_hash: [u8; 32],
}

impl NewToken {
    /// Makes a token from the operating system's randomness.
    ///
    /// The error says that the system has none to give.
    pub fn generate() -> Result<Self, rand::rngs::SysError> {
        let secret = random_digits::<SECRET_BYTES>()?;
        let key = KeyId::generate();
        Ok(Self {
            key,
            text: Secret::new(format!("vz_{}_{secret}", key.uuid().simple())),
            secret_hash: Sha256::digest(&secret).into(),
        })
    }

    /// The key as the store is to keep it.
    pub(super) fn row(&self, wish: KeyWish) -> NewKey {
        let roles = wish.roles.iter().map(|role| role.as_str().into());
        NewKey {
            id: self.key,
            name: wish.name,
            roles: roles.collect(),
            datasets: wish.datasets,
            secret_hash: self.secret_hash,
            lifetime_s: wish.lifetime_s,
        }
    }
}

/// The digest of the admin key that the operator chose.
#[derive(Clone)]
pub(in crate::http) struct AdminDigest([u8; 32]);

impl AdminDigest {
    /// The digest of a key.
    pub fn of(key: &Secret) -> Self {
        Self(Sha256::digest(key.expose()).into())
    }

    /// The digest itself.
    pub fn digest(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether a bearer token is that key.
    pub fn is(&self, bearer: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(bearer).into();
        self.0.ct_eq(&digest).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{cases, near};
    use chrono::DateTime;
    use proptest::prelude::*;

    fn row(token: &NewToken) -> KeyRow {
        KeyRow {
            id: token.key,
            name: "etl".into(),
            roles: vec!["uploader".into()],
            datasets: None,
            secret_hash: token.secret_hash,
            created_at: DateTime::UNIX_EPOCH,
            revoked_at: None,
            expires_at: None,
            is_expired: false,
            last_used_at: None,
        }
    }

    #[test]
    fn a_new_token_opens_its_key_and_no_other() {
        let (mine, other) = (NewToken::generate().unwrap(), NewToken::generate().unwrap());
        let token = Token::read(mine.text.expose()).expect("it has the form");
        assert_eq!(token.key, mine.key);
        assert!(token.opens(&row(&mine)));
        assert!(!token.opens(&row(&other)));
    }

    #[test]
    fn a_revoked_key_opens_to_nobody() {
        let token = NewToken::generate().unwrap();
        let mut key = row(&token);
        key.revoked_at = Some(DateTime::UNIX_EPOCH);
        assert!(!Token::read(token.text.expose()).unwrap().opens(&key));
    }

    #[test]
    fn an_expired_key_opens_to_nobody() {
        let token = NewToken::generate().unwrap();
        let mut key = row(&token);
        key.expires_at = Some(DateTime::UNIX_EPOCH);
        assert!(Token::read(token.text.expose()).unwrap().opens(&key));
        key.is_expired = true;
        assert!(!Token::read(token.text.expose()).unwrap().opens(&key));
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in [
            "",
            "vz_",
            "vz_x_y",
            "vz_0199d1f25a3e7c419d0b2f6a8c1e4b70",
            "bearer",
        ] {
            assert!(Token::read(text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn a_token_opens_its_key_in_one_spelling_alone(
            text in near(&["vz_0199d1f25a3e7c419d0b2f6a8c1e4b70_5e83f0"]),
        ) {
            let good = "vz_0199d1f25a3e7c419d0b2f6a8c1e4b70_5e83f0";
            let key = Token::read(good).expect("it has the form");
            if let Some(token) = Token::read(&text) {
                let is_same = token.key == key.key && token.secret_hash == key.secret_hash;
                prop_assert_eq!(is_same, text == good);
            } else {
                prop_assert_ne!(text, good);
            }
        }
    }
}
