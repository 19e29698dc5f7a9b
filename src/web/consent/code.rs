//! A code as people type it: read aloud, copied from paper, pasted.
//!
//! Spaces, hyphens and capital letters make no difference, and letters that look
//! like digits are taken for them: digits of a code are those of hexadecimal. What
//! is no code is asked for all the same, so that every refusal is the API's own.

/// Characters of a code that are looked at.
const CHARACTERS_MAX: usize = 64;
/// Characters read aloud in one breath.
const GROUP: usize = 4;

/// What a code opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The choice of a person.
    Choice,
    /// The receipt of one.
    Receipt,
}

impl Kind {
    /// How codes of this kind begin.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Choice => "vs_",
            Self::Receipt => "vr_",
        }
    }
}

/// A code. It is never printed but on its holder's pages.
#[derive(Clone, PartialEq, Eq)]
pub struct Code {
    kind: Kind,
    digits: String,
}

impl Code {
    /// What somebody typed for a code of a kind.
    pub fn typed(kind: Kind, text: &str) -> Self {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        let small: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        let prefix = kind.prefix().trim_end_matches('_');
        let digits = small.strip_prefix(prefix).unwrap_or(&small);
        let digits = digits
            .chars()
            .take(CHARACTERS_MAX)
            .map(|letter| match letter {
                'o' => '0',
                'l' | 'i' => '1',
                letter => letter,
            });
        Self {
            kind,
            digits: digits.collect(),
        }
    }

    /// The whole code, as the API takes it.
    pub fn text(&self) -> String {
        format!("{}{}", self.kind.prefix(), self.digits)
    }

    /// The code in groups that can be read aloud.
    pub fn groups(&self) -> String {
        let mut text = self.kind.prefix().to_owned();
        for (at, digit) in self.digits.chars().enumerate() {
            if at.is_multiple_of(GROUP) {
                text.push(' ');
            }
            text.push(digit);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "7d0c1f25a3e7c419d0b2f6a8c1e4b73a";

    #[test]
    fn a_code_is_the_same_however_it_is_typed() {
        let wanted = format!("vs_{DIGITS}");
        let code = Code::typed(Kind::Choice, &wanted);
        let spoken = code.groups();
        assert_eq!(spoken, "vs_ 7d0c 1f25 a3e7 c419 d0b2 f6a8 c1e4 b73a");
        for typed in [
            wanted.clone(),
            spoken.clone(),
            spoken.to_uppercase(),
            format!("  {DIGITS}\n"),
            wanted.replace('0', "O").replace('1', "l"),
            spoken.replace(' ', "\u{a0}").replace('_', "-"),
        ] {
            assert_eq!(Code::typed(Kind::Choice, &typed).text(), wanted, "{typed}");
        }
    }

    #[test]
    fn nothing_typed_becomes_a_code_of_another_kind() {
        for typed in ["vz_0123", "vr_0123", "", "é", "Bearer x", "a\r\nb: c"] {
            let text = Code::typed(Kind::Choice, typed).text();
            assert!(text.starts_with("vs_"), "{typed}: {text}");
            assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        }
        let long = Code::typed(Kind::Receipt, &"a".repeat(10_000)).text();
        assert_eq!(long.len(), 3 + CHARACTERS_MAX);
    }
}
