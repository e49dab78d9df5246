//! Dialects and words, from the table shared with the Python implementation.

include!(concat!(env!("OUT_DIR"), "/facts.rs"));

/// The table's text, by which Python detects a wheel that was built with another version of it.
pub const FACTS: &str = include_str!("../../sql/scan/facts.txt");

#[derive(Clone, Copy)]
pub struct Word {
    text: &'static [u8],
    pub role: u8,
    pub flags: u8,
}

pub static PLAIN: Word = Word { text: b"", role: role::PLAIN, flags: 0 };

/// Returns the features of a dialect.
pub fn features(dialect: &str) -> Option<u32> {
    DIALECTS.iter().find(|(name, _)| *name == dialect).map(|(_, features)| *features)
}

/// Returns the role and flags of the word at `start..end`, ignoring case.
#[inline(always)]
pub fn word(text: &[u8], start: usize, end: usize) -> &'static Word {
    let length = end - start;
    let key = key(text, start, length);
    let mut slot = (key.wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG2)) as usize;
    loop {
        match KEYS[slot] {
            0 => return &PLAIN,
            known if known == key => {
                let found = &WORDS[slot];
                if found.text.len() == length && same_tail(found.text, &text[start..end]) {
                    return found;
                }
            }
            _ => {}
        }
        slot = (slot + 1) % KEYS.len();
    }
}

/// No character of a word turns into another letter by setting bit 0x20, so that converts words to lower case.
#[inline]
fn key(text: &[u8], start: usize, length: usize) -> u64 {
    const LOWER: u64 = 0x2020_2020_2020_2020;
    if let Some(eight) = text[start..].first_chunk::<8>() {
        let all = u64::from_le_bytes(*eight) | LOWER;
        return if length >= 8 { all } else { all & ((1 << (8 * length)) - 1) };
    }
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(&text[start..start + length]) {
        *to = from | 0x20;
    }
    u64::from_le_bytes(bytes)
}

#[inline]
fn same_tail(known: &[u8], word: &[u8]) -> bool {
    known.len() <= 8 || known[8..].iter().zip(&word[8..]).all(|(a, b)| *a | 0x20 == *b | 0x20)
}
