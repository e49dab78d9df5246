//! Classifies eight bytes of text at once, as one 64-bit integer with the first byte in the lowest position.
//!
//! The result for each byte is its highest bit. For a non-ASCII byte, whose highest bit is set in the text, each
//! function defines the result. Sums do not overflow their byte: both operands have at most seven bits.

#[cfg(not(target_arch = "x86_64"))]
pub const LENGTH: usize = 8;

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = 0x80 * EACH;
const LOWER: u64 = 0x7f * EACH;

/// Returns the number of bytes before the first match; 8 if none matches.
#[inline]
pub fn first(answers: u64) -> usize {
    (answers.trailing_zeros() / 8) as usize
}

/// Returns the byte at an index from 0 to 7.
#[inline]
pub fn byte(eight: u64, place: usize) -> u8 {
    (eight >> (8 * place)) as u8
}

/// Returns three bit masks: bytes that are not white space or control characters, not part of a word, not ASCII.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn stops(bytes: &[u8; LENGTH]) -> [u64; 3] {
    let eight = u64::from_le_bytes(*bytes);
    [beyond_space(eight), outside_word(eight, true), eight & HIGHEST].map(bits)
}

/// Returns the results as eight bits, the first byte's in the lowest.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn bits(answers: u64) -> u64 {
    answers.wrapping_mul(0x0002_0408_1020_4081) >> 56
}

/// Matches bytes that are not ASCII white space or control characters, including non-ASCII bytes and DEL.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn beyond_space(eight: u64) -> u64 {
    (at_least(eight, b' ' + 1) | eight) & HIGHEST
}

/// Matches bytes that are not ASCII letters, digits, underscores or, with `dollar`, dollar signs.
#[inline]
pub fn outside_word(eight: u64, dollar: bool) -> u64 {
    let folded = eight | 0x20 * EACH;
    let letter = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
    let digit = at_least(eight, b'0') & !at_least(eight, b'9' + 1);
    let sign = if dollar { other_than(eight, b'$') } else { HIGHEST };
    (!(letter | digit) & other_than(eight, b'_') & sign | eight) & HIGHEST
}

#[inline]
fn at_least(eight: u64, byte: u8) -> u64 {
    (eight & LOWER) + (0x80 - byte as u64) * EACH
}

#[inline]
fn other_than(eight: u64, byte: u8) -> u64 {
    at_least((eight ^ byte as u64 * EACH) & LOWER, 1)
}
