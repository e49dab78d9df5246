//! Classifies 64 bytes of text at once: which are white space, and which continue a word, as bit masks.
//!
//! The end of a run follows from the masks alone. Byte by byte, each step would depend on the previous one.

#[cfg(not(target_arch = "x86_64"))]
use crate::eight as lane;
#[cfg(target_arch = "x86_64")]
use crate::sixteen as lane;

const LENGTH: usize = 64;
/// Padding after the end of a text: neither white space nor part of a word.
const NEITHER: u8 = b'(';

/// The bytes from an index on.
#[derive(Default)]
pub struct Block {
    start: usize,
    end: usize,
    beyond_space: u64,
    outside_word: u64,
    beyond_ascii: bool,
}

impl Block {
    /// Returns the end of the ASCII white space and control characters that begin at an index.
    #[inline(always)]
    pub fn space_end(&mut self, text: &[u8], place: usize) -> usize {
        self.run_end(text, place, |block| block.beyond_space)
    }

    /// Returns the end of the ASCII letters, digits, underscores and dollar signs that begin at an index.
    #[inline(always)]
    pub fn word_end(&mut self, text: &[u8], place: usize) -> usize {
        self.run_end(text, place, |block| block.outside_word)
    }

    /// Returns whether a non-ASCII character is in the block: the last run may end just before one.
    #[inline(always)]
    pub fn may_end_beyond_ascii(&self) -> bool {
        self.beyond_ascii
    }

    #[inline(always)]
    fn run_end(&mut self, text: &[u8], mut place: usize, stops: impl Fn(&Self) -> u64) -> usize {
        loop {
            if place.wrapping_sub(self.start) >= self.end.wrapping_sub(self.start) {
                self.read(text, place);
            }
            let rest = stops(self) >> (place - self.start);
            if rest != 0 {
                return place + rest.trailing_zeros() as usize;
            }
            place = self.end;
        }
    }

    #[inline(never)]
    fn read(&mut self, text: &[u8], place: usize) {
        let rest = &text[place.min(text.len())..];
        let mut last = [NEITHER; LENGTH];
        let bytes = rest.first_chunk().unwrap_or_else(|| {
            last[..rest.len()].copy_from_slice(rest);
            &last
        });
        *self = Self { start: place, end: place + LENGTH, ..Self::default() };
        for (position, some) in bytes.as_chunks::<{ lane::LENGTH }>().0.iter().enumerate() {
            let [beyond_space, outside_word, beyond_ascii] = lane::stops(some);
            self.beyond_space |= beyond_space << (lane::LENGTH * position);
            self.outside_word |= outside_word << (lane::LENGTH * position);
            self.beyond_ascii |= beyond_ascii != 0;
        }
    }
}
