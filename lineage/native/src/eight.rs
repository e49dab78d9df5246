//! Eight bytes of text looked at together, as the digits of one number, the first byte in the lowest.
//!
//! What is asked of each byte is answered in its highest bit; a byte beyond ASCII, whose highest bit is set, answers as
//! each function says. Sums stay within their byte: of seven bits and at most seven bits.

#[cfg(not(target_arch = "x86_64"))]
pub const LENGTH: usize = 8;

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = 0x80 * EACH;
const LOWER: u64 = 0x7f * EACH;

/// Returns how many bytes come before the first that answers; 8 where none does.
#[inline]
pub fn first(answers: u64) -> usize {
    (answers.trailing_zeros() / 8) as usize
}

/// Returns the byte at a place from 0 to 7.
#[inline]
pub fn byte(eight: u64, place: usize) -> u8 {
    (eight >> (8 * place)) as u8
}

/// Returns, as bits, which bytes are no white space or control characters, no part of a word, and beyond ASCII.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn stops(bytes: &[u8; LENGTH]) -> [u64; 3] {
    let eight = u64::from_le_bytes(*bytes);
    [beyond_space(eight), outside_word(eight, true), eight & HIGHEST].map(bits)
}

/// Returns the answers as eight bits, the first byte's in the lowest.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn bits(answers: u64) -> u64 {
    answers.wrapping_mul(0x0002_0408_1020_4081) >> 56
}

/// Asks which bytes are no ASCII white space or control character: those beyond ASCII too, and DEL.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn beyond_space(eight: u64) -> u64 {
    (at_least(eight, b' ' + 1) | eight) & HIGHEST
}

/// Asks which bytes are no ASCII letter, digit or underscore, nor, with `dollar`, a dollar sign.
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
