//! Masks literals in place; equivalent to `lineage/sql/scan/mask.py`.

use memchr::memchr;

use crate::facts::feature;
use crate::pieces::{Kind, Pieces};

/// Words that may directly follow a string without a space.
const BEHIND_STRINGS: [&[u8]; 38] = [
    b"and", b"as", b"asc", b"between", b"by", b"collate", b"desc", b"do", b"else", b"end", b"escape", b"except",
    b"from", b"group", b"having", b"ilike", b"in", b"intersect", b"into", b"is", b"like", b"limit", b"not", b"on",
    b"or", b"order", b"over", b"rlike", b"separator", b"then", b"uescape", b"union", b"using", b"values", b"when",
    b"where", b"with", b"xor",
];

/// Appends the text with its literals masked and its comments blanked; its number of characters does not change.
/// With `digits` the digits of a number become `0`, else a number becomes `?` and spaces.
pub fn mask_literals(text: &str, features: u32, digits: bool, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len());
    let mut done = 0;
    let mut string_end = usize::MAX;
    for piece in Pieces::new(bytes, features) {
        if piece.start == string_end && is_torn(piece.kind, &bytes[piece.start..piece.end]) {
            out.extend_from_slice(&bytes[done..piece.start]);
            out.resize(out.len() + characters(&bytes[piece.start..]), b'*');
            return;
        }
        string_end = if piece.kind == Kind::String { piece.end } else { usize::MAX };
        if matches!(piece.kind, Kind::Placeholder | Kind::Name | Kind::Word | Kind::Semicolon | Kind::Operator) {
            continue;
        }
        out.extend_from_slice(&bytes[done..piece.start]);
        mask_piece(piece.kind, &bytes[piece.start..piece.end], features, digits, out);
        done = piece.end;
    }
    out.extend_from_slice(&bytes[done..]);
}

/// Returns whether the piece directly after a string shows that the string ended too early.
fn is_torn(kind: Kind, text: &[u8]) -> bool {
    kind == Kind::Number
        || (kind == Kind::Word && !BEHIND_STRINGS.iter().any(|known| known.eq_ignore_ascii_case(text)))
}

fn mask_piece(kind: Kind, text: &[u8], features: u32, digits: bool, out: &mut Vec<u8>) {
    let length = text.len();
    match kind {
        Kind::Comment => blank(text, out),
        Kind::String => {
            let quote = text[length - 1];
            let lead = memchr(quote, text).unwrap_or(0);
            let triple = features & feature::TRIPLE_STRINGS != 0 && text[lead..].starts_with(&[quote; 3]);
            let quotes = if triple { 3 } else { 1 };
            between(text, lead + quotes, quotes, out);
        }
        Kind::OracleString => {
            let quote = memchr(b'\'', text).unwrap_or(0);
            let delimiter = text[quote + 1..].iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count() + 1;
            // A non-ASCII delimiter is its own closer, so both have the same length.
            between(text, quote + 1 + delimiter, delimiter + 1, out);
        }
        Kind::DollarString => {
            let tag = memchr(b'$', &text[1..]).unwrap_or(0) + 2;
            between(text, tag, tag, out);
        }
        Kind::Template => {
            out.extend_from_slice(&text[..2]);
            mask_template(&text[2..length - 2], out);
            out.extend_from_slice(&text[length - 2..]);
        }
        Kind::Number if !digits => {
            out.push(b'?');
            out.resize(out.len() + length - 1, b' ');
        }
        Kind::Number if length > 2 && text[0] == b'0' && text[1] | 0x20 == b'x' => {
            out.extend_from_slice(&text[..2]);
            out.resize(out.len() + length - 2, b'0');
        }
        Kind::Number => out.extend(text.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte })),
        _ => between(text, 1, 0, out),
    }
}

fn mask_template(text: &[u8], out: &mut Vec<u8>) {
    let mut place = 0;
    while let Some(found) = memchr::memchr2(b'\'', b'"', &text[place..]) {
        let start = place + found;
        out.extend_from_slice(&text[place..start]);
        match memchr(text[start], &text[start + 1..]) {
            Some(length) => {
                place = start + length + 2;
                between(&text[start..place], 1, 1, out);
            }
            None => {
                place = text.len();
                between(&text[start..], 1, 0, out);
            }
        }
    }
    out.extend_from_slice(&text[place..]);
}

/// Keeps `lead` and `trail` bytes, and writes a star for each character between them.
fn between(text: &[u8], lead: usize, trail: usize, out: &mut Vec<u8>) {
    let stop = text.len() - trail;
    out.extend_from_slice(&text[..lead]);
    out.resize(out.len() + characters(&text[lead..stop]), b'*');
    out.extend_from_slice(&text[stop..]);
}

fn blank(text: &[u8], out: &mut Vec<u8>) {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (body, end) = line.strip_suffix(b"\n").map_or((line, &b""[..]), |body| (body, &b"\n"[..]));
        out.resize(out.len() + characters(body), b' ');
        out.extend_from_slice(end);
    }
}

/// Returns the number of characters of a piece of UTF-8.
pub fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
