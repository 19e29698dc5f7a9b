//! Bytes as hexadecimal digits: how digests and secrets are written everywhere.

/// The digits of bytes, two each, in small letters.
pub fn to_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
    digits.collect()
}

/// The bytes of exactly `2 * LENGTH` digits, in small or capital letters;
/// `None` for any other text.
pub fn from_hex<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    if text.len() != 2 * LENGTH {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| char::from(digit).to_digit(16));
        *byte = (high? << 4 | low?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_other_texts_are_none() {
        let bytes = [0x00, 0x0f, 0xa7, 0xff];
        assert_eq!(to_hex(&bytes), "000fa7ff");
        assert_eq!(from_hex("000fA7ff"), Some(bytes));
        for text in [
            "",
            "000fa7f",
            "000fa7fff",
            "000fa7+f",
            "000fa7fg",
            "é00fa7f",
        ] {
            assert_eq!(from_hex::<4>(text), None, "{text}");
        }
    }
}
