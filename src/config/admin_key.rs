//! Whether an admin key of the operator's choosing is easy to guess. *Ours.*
//!
//! Nobody can prove that a text was drawn at random, but texts that people
//! make up have marks: known words, runs (`abcd`, `0000`), parts that come
//! again. What has such a mark counts for nothing; enough must be left. Random
//! keys have hardly any: `openssl rand -hex 32` and `-base64 32` always pass.

/// Characters that an admin key has at least.
const CHARACTERS_MIN: usize = 32;

/// Characters that must be left: in hexadecimal digits 96 bits.
const COUNTED_MIN: usize = 24;
/// Different characters among them.
const DISTINCT_MIN: usize = 10;
/// A part of so many characters that stood before counts for nothing.
const PART: usize = 4;
/// So many characters in a row that each follow the one before are a run.
const RUN_MIN: usize = 3;

/// Words that people write where a secret should be, and rows of keyboards.
const WORDS: [&str; 24] = [
    "administrator",
    "admin",
    "change",
    "secret",
    "passwort",
    "password",
    "passwd",
    "vizard",
    "default",
    "example",
    "letmein",
    "replace",
    "insert",
    "dummy",
    "token",
    "test",
    "your",
    "here",
    "qwertyuiop",
    "qwertzuiop",
    "qwerty",
    "asdfghjkl",
    "zxcvbnm",
    "1234567890",
];

/// Why a key is refused. It repeats nothing of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GuessableKey {
    /// It is too short.
    #[error(
        "the admin key has fewer than {CHARACTERS_MIN} characters; \
         make one with `openssl rand -hex 32`"
    )]
    Short,
    /// It looks made up.
    #[error(
        "the admin key is easy to guess: without known words, runs and repeated parts it needs \
         {COUNTED_MIN} characters, {DISTINCT_MIN} of them different; \
         make one with `openssl rand -hex 32`"
    )]
    Plain,
}

/// An error if the key is easy to guess.
pub fn judge_admin_key(key: &str) -> Result<(), GuessableKey> {
    let characters: Vec<char> = key.to_lowercase().chars().collect();
    if key.chars().count() < CHARACTERS_MIN {
        return Err(GuessableKey::Short);
    }
    let counts = what_counts(&characters);
    let counted = || {
        characters
            .iter()
            .zip(&counts)
            .filter(|(_, counts)| **counts)
    };
    let mut distinct: Vec<char> = counted().map(|(character, _)| *character).collect();
    let count = distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    if count >= COUNTED_MIN && distinct.len() >= DISTINCT_MIN {
        Ok(())
    } else {
        Err(GuessableKey::Plain)
    }
}

/// Which characters are in no word, no run, and no part that stood before.
fn what_counts(characters: &[char]) -> Vec<bool> {
    let mut counts = vec![true; characters.len()];
    for word in WORDS {
        let word: Vec<char> = word.chars().collect();
        for (at, window) in characters.windows(word.len()).enumerate() {
            if *window == *word {
                counts[at..at + word.len()].fill(false);
            }
        }
    }
    for step in [-1, 0, 1] {
        let follows =
            |pair: &[char]| i64::from(u32::from(pair[1])) - i64::from(u32::from(pair[0])) == step;
        for (at, window) in characters.windows(RUN_MIN).enumerate() {
            if window.windows(2).all(follows) {
                counts[at..at + RUN_MIN].fill(false);
            }
        }
    }
    for (at, part) in characters.windows(PART).enumerate() {
        let before = &characters[..at + PART - 1];
        if before.windows(PART).any(|other| other == part) {
            counts[at..at + PART].fill(false);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn keys_that_people_make_up_are_refused() {
        for key in [
            "x".repeat(32),
            "0123456789abcdef0123456789abcdef".into(),
            "abcdefghijklmnopqrstuvwxyz0123456789".into(),
            "zyxwvutsrqponmlkjihgfedcba9876543210".into(),
            "changemechangemechangemechangeme".into(),
            "ChangeMe-ChangeMe-ChangeMe-ChangeMe!".into(),
            "qwertyuiopasdfghjklzxcvbnm1234567890".into(),
            "my-admin-password-my-admin-password".into(),
            "a1b2c3d4".repeat(5),
            "correcthorse".repeat(3),
            "7f3a9c0e5b21".repeat(4),
            "replace-this-token-with-your-secret-admin-password".into(),
            "11112222333344445555666677778888".into(),
            "0000000000000000000000000000000000000000000000007f3a9c".into(),
            "ababababcdcdcdcdefefefefabababab".into(),
            "aabbaabbabababaabbbabaabbabbabab".into(),
        ] {
            assert_eq!(judge_admin_key(&key), Err(GuessableKey::Plain), "{key}");
        }
        for key in ["", "7f3a9c0e5b21d84", &"x".repeat(31)] {
            assert_eq!(judge_admin_key(key), Err(GuessableKey::Short), "{key}");
        }
    }

    #[test]
    fn random_keys_always_pass() {
        let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(26);
        for round in 0..20_000 {
            let mut bytes = [0_u8; 32];
            random.fill_bytes(&mut bytes);
            let hex = vizard_anonymizer::microdata::to_hex(&bytes);
            for key in [
                STANDARD.encode(bytes),
                STANDARD.encode(&bytes[..24]),
                URL_SAFE_NO_PAD.encode(bytes),
                hex.to_uppercase(),
                hex,
            ] {
                assert_eq!(judge_admin_key(&key), Ok(()), "round {round}: {key}");
            }
        }
    }

    #[test]
    fn an_error_repeats_nothing_of_the_key() {
        let told = judge_admin_key(&"canary-".repeat(6)).expect_err("refused");
        assert!(!told.to_string().contains("canary"), "{told}");
    }
}
