//! Classifies 16 bytes of text at once with SSE2, which every x86-64 processor has.

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
    _mm_set1_epi8,
};

pub const LENGTH: usize = 16;

/// Returns three bit masks: bytes that are not white space or control characters, not part of a word, not ASCII.
#[inline(always)]
pub fn stops(bytes: &[u8; LENGTH]) -> [u64; 3] {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { stops_by_sse2(bytes) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn stops_by_sse2(bytes: &[u8; LENGTH]) -> [u64; 3] {
    let both = u128::from_le_bytes(*bytes);
    let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
    // The comparison is signed: non-ASCII bytes are less than all others.
    let visible = _mm_or_si128(_mm_cmpgt_epi8(bytes, each(b' ')), bytes);
    let letters = between(_mm_or_si128(bytes, each(0x20)), b'a', b'z');
    let digits = between(bytes, b'0', b'9');
    let signs = _mm_or_si128(_mm_cmpeq_epi8(bytes, each(b'_')), _mm_cmpeq_epi8(bytes, each(b'$')));
    let in_word = _mm_or_si128(_mm_or_si128(letters, digits), signs);
    [bits(visible), !bits(in_word) & 0xffff, bits(bytes)]
}

#[inline]
#[target_feature(enable = "sse2")]
fn each(byte: u8) -> __m128i {
    _mm_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "sse2")]
fn between(bytes: __m128i, first: u8, last: u8) -> __m128i {
    _mm_and_si128(_mm_cmpgt_epi8(bytes, each(first - 1)), _mm_cmpgt_epi8(each(last + 1), bytes))
}

#[inline]
#[target_feature(enable = "sse2")]
fn bits(answers: __m128i) -> u64 {
    u64::from(_mm_movemask_epi8(answers) as u32)
}
