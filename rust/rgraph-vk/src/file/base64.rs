//! Bytes in text: base 64 with padding.
//!
//! # Source
//! RFC 4648, section 4.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().chain([&0; 2]).take(3).fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { letter as char } else { '=' });
        }
    }
    text
}

/// The bytes of a text; `None`: it is not base 64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.len() - text.trim_end_matches('=').len();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.as_bytes().chunks(4) {
        let last = bytes.len() + 3 == text.len() / 4 * 3;
        let mut word = 0_u32;
        for (place, letter) in chunk.iter().enumerate() {
            let padded = last && *letter == b'=' && place >= 4 - padding.min(2);
            let value = if padded { 0 } else { LETTERS.iter().position(|known| known == letter)? as u32 };
            word = word << 6 | value;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    if padding > 2 {
        return None;
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_hold() {
        let examples =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in examples {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn what_is_not_base_64_is_refused() {
        for text in ["Zg", "Zg=", "====", "Z===", "Zg==Zg==", "Zm 9", "Zm9v\n", "Zm9\u{e4}"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
