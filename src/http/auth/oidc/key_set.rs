//! A key set (JWKS, RFC 7517): which key checks which token.
//!
//! Only what can check one of four kinds of signature is kept: RSA keys
//! (RS256, PS256), keys on P-256 (ES256) and on Curve25519 (EdDSA). Shared
//! secrets, keys for encryption and keys of other curves are passed over, so
//! no token can choose one of them, whatever its header says. A key that
//! cannot be read is passed over too: it must not keep its neighbours out.

use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Kinds of signature that are taken. Never `none`, never a shared secret.
pub(super) const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::RS256,
    Algorithm::PS256,
    Algorithm::ES256,
    Algorithm::EdDSA,
];

/// Keys of one set that are looked at.
const KEYS_MAX: usize = 100;

/// The text is no key set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is no JSON Web Key Set")]
pub struct NoKeySet;

/// One key as it is written (RFC 7517, 7518, 8037); other members say nothing here.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// One key that can check tokens.
struct Key {
    id: Option<String>,
    /// The one kind of signature that the set allows it, if it says so.
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

/// Public keys of an issuer.
#[derive(Default)]
pub(super) struct KeySet(Vec<Key>);

impl KeySet {
    /// Reads a key set. One without a usable key is a key set too: the issuer
    /// has taken all of its keys back.
    pub fn read(text: &[u8]) -> Result<Self, NoKeySet> {
        #[derive(Deserialize)]
        struct Jwks {
            keys: Vec<Value>,
        }
        let set: Jwks = serde_json::from_slice(text).map_err(|_| NoKeySet)?;
        let keys = set.keys.into_iter().take(KEYS_MAX);
        Ok(Self(keys.filter_map(usable).collect()))
    }

    /// The key that checks a token whose header names `id` and `algorithm`.
    ///
    /// A token that names no key is checked by the only key of its kind; where
    /// there are several it is not guessed.
    pub fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let mut fitting = self.0.iter().filter(|key| {
            let may = key.algorithm.is_none_or(|only| only == algorithm);
            let is_named = id.is_none() || key.id.as_deref() == id;
            may && is_named && key.key.family() == algorithm.family()
        });
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(&key.key),
            _ => None,
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

fn usable(jwk: Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(jwk).ok()?;
    if jwk.usage.as_deref().is_some_and(|usage| usage != "sig") {
        return None;
    }
    let key = match (&*jwk.kty, jwk.crv.as_deref()) {
        ("RSA", _) => DecodingKey::from_rsa_components(&jwk.n?, &jwk.e?),
        ("EC", Some("P-256")) => DecodingKey::from_ec_components(&jwk.x?, &jwk.y?),
        ("OKP", Some("Ed25519")) => DecodingKey::from_ed_components(&jwk.x?),
        _ => return None,
    }
    .ok()?;
    let algorithm = match jwk.alg {
        None => None,
        Some(word) => Some(algorithm_of(&word)?),
    };
    Some(Key {
        id: jwk.kid,
        algorithm,
        key,
    })
}

/// The kind of signature that a word names, if it is taken.
fn algorithm_of(word: &str) -> Option<Algorithm> {
    let algorithm = word.parse().ok()?;
    ALGORITHMS.contains(&algorithm).then_some(algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{cases, near};
    use proptest::prelude::*;
    use serde_json::json;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn set(keys: Value) -> KeySet {
        KeySet::read(json!({"keys": keys}).to_string().as_bytes()).expect("a key set")
    }

    fn ed25519(id: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": X, "kid": id})
    }

    #[test]
    fn a_token_is_checked_by_the_key_that_it_names_and_no_other() {
        let set = set(json!([ed25519("a"), ed25519("b")]));
        assert!(set.find(Some("a"), Algorithm::EdDSA).is_some());
        assert!(set.find(Some("c"), Algorithm::EdDSA).is_none());
        assert!(set.find(Some("a"), Algorithm::RS256).is_none());
        assert!(set.find(None, Algorithm::EdDSA).is_none(), "two would fit");
    }

    #[test]
    fn a_token_without_a_key_id_is_checked_by_the_only_key_of_its_kind() {
        let rsa = json!({"kty": "RSA", "n": X, "e": "AQAB", "kid": "r"});
        let set = set(json!([ed25519("a"), rsa]));
        assert!(set.find(None, Algorithm::EdDSA).is_some());
        assert!(set.find(None, Algorithm::PS256).is_some());
        assert!(set.find(None, Algorithm::ES256).is_none());
    }

    #[test]
    fn a_key_is_used_for_the_one_algorithm_that_it_names() {
        let set = set(json!([{"kty": "RSA", "n": X, "e": "AQAB", "kid": "r", "alg": "PS256"}]));
        assert!(set.find(Some("r"), Algorithm::PS256).is_some());
        assert!(set.find(Some("r"), Algorithm::RS256).is_none());
    }

    #[test]
    fn secrets_and_keys_for_other_purposes_are_passed_over() {
        let mut encryption = ed25519("e");
        encryption["use"] = "enc".into();
        let mut other = ed25519("o");
        other["alg"] = "HS256".into();
        let kept = set(json!([
            {"kty": "oct", "k": X, "kid": "s"}, encryption, other,
            {"kty": "EC", "crv": "P-384", "x": X, "y": X, "kid": "p"},
            {"kty": "RSA", "kid": "without numbers"}, 7, ed25519("kept"),
        ]));
        assert_eq!(kept.len(), 1);
        for family in [Algorithm::HS256, Algorithm::EdDSA] {
            assert!(kept.find(Some("s"), family).is_none());
        }
        assert!(kept.find(Some("kept"), Algorithm::EdDSA).is_some());
    }

    #[test]
    fn an_empty_set_is_one_and_another_text_is_not() {
        assert_eq!(set(json!([])).len(), 0);
        for text in ["", "{}", "[]", "{\"keys\": 1}", "<html>"] {
            assert!(KeySet::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_text_is_a_key_set_of_keys_that_it_names_or_none(text in near(&[
            r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"}]}"#,
            r#"{"keys":[{"kty":"RSA","n":"11qYAYKxCrfVS","e":"AQAB","use":"sig","alg":"PS256"},{"kty":"oct","k":"AQAB"}]}"#,
        ])) {
            let document: Option<Value> = serde_json::from_str(&text).ok();
            let listed = document.as_ref().and_then(|document| document["keys"].as_array());
            if let Ok(set) = KeySet::read(text.as_bytes()) {
                prop_assert!(set.len() <= listed.map_or(0, Vec::len).min(KEYS_MAX));
                for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
                    prop_assert!(set.find(None, algorithm).is_none(), "no shared secret");
                }
            }
        }
    }
}
