//! Words in the place of texts.
//!
//! A table's labels and names are somebody's texts. Elsewhere a word stands for each,
//! made of nothing but its rank among all of them by bytes. Words compare as the texts
//! do, and two are equal where the texts are: whatever an engine sorts, looks up or
//! keeps apart by a text comes out the same. The two words that mean something to
//! engines, `(missing)` and `*`, stand for themselves.

use serde::{Deserialize, Serialize};

use crate::microdata::value_text::MISSING_LABEL;

/// The label of a root that says nothing.
const ANY: &str = "*";

/// Characters of a word.
const LENGTH: usize = 11;

/// All texts of a table, by rank.
#[derive(Debug)]
pub(in crate::catalog::parts) struct Texts(Vec<String>);

/// The ranks of the words that stand for themselves: all that is needed to tell the
/// words of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    missing: u32,
    any: u32,
}

impl Texts {
    /// Ranks these texts.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all: Vec<&str> = texts.chain([MISSING_LABEL, ANY]).collect();
        all.sort_unstable();
        all.dedup();
        Self(all.into_iter().map(str::to_owned).collect())
    }

    /// The rank of one of them; of any other text that of the one behind it.
    pub fn rank(&self, text: &str) -> u32 {
        self.0.partition_point(|one| one.as_str() < text) as u32
    }

    /// The text of a rank.
    pub fn text(&self, rank: u32) -> Option<&String> {
        self.0.get(rank as usize)
    }

    /// The words that stand for them.
    pub fn words(&self) -> Words {
        Words {
            missing: self.rank(MISSING_LABEL),
            any: self.rank(ANY),
        }
    }
}

impl Words {
    /// The word of a rank.
    pub fn word(self, rank: u32) -> String {
        // The first characters stand around those of the two words by bytes.
        match rank {
            _ if rank == self.missing => MISSING_LABEL.into(),
            _ if rank == self.any => ANY.into(),
            _ if rank < self.missing => format!("#{rank:010}"),
            _ if rank < self.any => format!("){rank:010}"),
            _ => format!("a{rank:010}"),
        }
    }

    /// The rank of a word.
    pub fn rank(self, word: &str) -> Option<u32> {
        match word {
            MISSING_LABEL => Some(self.missing),
            ANY => Some(self.any),
            _ => {
                let digits = word.strip_prefix(['#', ')', 'a'])?;
                let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
                (word.len() == LENGTH && are_digits).then(|| digits.parse().ok())?
            }
        }
    }

    /// The rank of the word that a name begins with, if it does, and the rest.
    pub fn split(self, name: &str) -> (Option<u32>, &str) {
        for word in [MISSING_LABEL, ANY] {
            if let Some(rest) = name.strip_prefix(word) {
                return (self.rank(word), rest);
            }
        }
        if let Some((word, rest)) = name.split_at_checked(LENGTH)
            && let Some(rank) = self.rank(word)
        {
            return (Some(rank), rest);
        }
        (None, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_compare_as_their_texts_and_are_read_back() {
        let given = [
            "",
            "!",
            "#1",
            "(",
            "(missing)",
            "(missing)!",
            ")",
            "*",
            "**",
            "a",
            "Zürich",
            "{x",
        ];
        let texts = Texts::of(given.into_iter());
        let words = texts.words();
        let of = |text: &&str| words.word(texts.rank(text));
        for one in &given {
            for other in &given {
                assert_eq!(of(one).cmp(&of(other)), one.cmp(other), "{one} {other}");
            }
            let rank = texts.rank(one);
            assert_eq!(words.rank(&of(one)), Some(rank));
            assert_eq!(texts.text(rank).map(String::as_str), Some(*one));
            assert_eq!(words.split(&(of(one) + "_bucket")), (Some(rank), "_bucket"));
        }
        for name in ["group", "attribute", "a123456789", "a12345678901"] {
            assert_eq!(words.rank(name), None, "{name}");
        }
        assert_eq!(words.split("attribute"), (None, "attribute"));
        // Of all else there are digits alone.
        let own = ["(missing)", "*"];
        for text in given.iter().filter(|text| !own.contains(text)) {
            let word = of(text);
            assert!(
                word.len() == LENGTH && word[1..].parse::<u32>().is_ok(),
                "{word}"
            );
        }
    }
}
