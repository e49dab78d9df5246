//! Functions that find the end of a lexical element that begins at an index.

use memchr::{memchr, memchr2};

/// Returns the length of the UTF-8 character that begins with a byte.
#[inline]
pub fn character_length(byte: u8) -> usize {
    match byte {
        0..=0xbf => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

/// Returns the length of the non-ASCII white space at an index; 0 if there is none.
pub fn space_at(text: &[u8], place: usize) -> usize {
    match text[place..] {
        [0xc2, 0x85 | 0xa0, ..] => 2,
        [0xe1, 0x9a, 0x80, ..] => 3,
        [0xe2, 0x80, 0x80..=0x8b | 0xa8 | 0xa9 | 0xaf, ..] => 3,
        [0xe2, 0x81, 0x9f, ..] => 3,
        [0xe3, 0x80, 0x80, ..] => 3,
        [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

pub fn line_end(text: &[u8], start: usize) -> usize {
    memchr(b'\n', &text[start..]).map_or(text.len(), |found| start + found)
}

/// Returns the end of a quoted string in which a doubled quote is an escaped quote.
pub fn doubled_end(text: &[u8], mut place: usize, quote: u8) -> Option<usize> {
    loop {
        place += memchr(quote, text.get(place..)?)? + 1;
        if text.get(place) != Some(&quote) {
            return Some(place);
        }
        place += 1;
    }
}

/// The same, with backslash escapes, too.
pub fn escaped_end(text: &[u8], mut place: usize, quote: u8) -> Option<usize> {
    loop {
        place += memchr2(quote, b'\\', text.get(place..)?)?;
        if text[place] == b'\\' {
            place += 2;
            continue;
        }
        place += 1;
        if text.get(place) != Some(&quote) {
            return Some(place);
        }
        place += 1;
    }
}

pub fn triple_end(text: &[u8], mut place: usize, quote: u8) -> Option<usize> {
    loop {
        place += memchr2(quote, b'\\', text.get(place..)?)?;
        if text[place] == b'\\' {
            place += 2;
        } else if text[place..].starts_with(&[quote; 3]) {
            return Some(place + 3);
        } else {
            place += 1;
        }
    }
}

#[inline]
pub fn operator_length(text: &[u8], start: usize) -> usize {
    match text[start..] {
        [b'-', b'>', b'>', ..] | [b'#', b'>', b'>', ..] | [b'<', b'=', b'>', ..] => 3,
        [b'-', b'>', ..]
        | [b'=', b'>' | b'=', ..]
        | [b':', b'=' | b':', ..]
        | [b'#', b'>', ..]
        | [b'@', b'>' | b'@', ..]
        | [b'<', b'@' | b'=' | b'>' | b'<', ..]
        | [b'?', b'?' | b'|' | b'&', ..]
        | [b'>', b'=' | b'>', ..]
        | [b'!', b'=' | b'~', ..]
        | [b'|', b'|' | b'>', ..]
        | [b'~', b'*' | b'~', ..]
        | [b'&', b'&', ..]
        | [b'^', b'=', ..] => 2,
        _ => 1,
    }
}
