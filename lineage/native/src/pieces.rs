//! Lexical pieces of a text; equivalent to `lineage/sql/scan/pieces.py`.

use memchr::{memchr, memchr2, memmem};

use crate::block::Block;
use crate::eight;
use crate::ends::{character_length, doubled_end, escaped_end, line_end, operator_length, space_at, triple_end};
use crate::facts::feature;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Comment,
    String,
    OracleString,
    DollarString,
    Unclosed,
    Number,
    Placeholder,
    Template,
    Name,
    Word,
    Semicolon,
    Operator,
}

#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// Finds the pieces of a text in order. `position` may be set to continue elsewhere.
pub struct Pieces<'a> {
    pub text: &'a [u8],
    pub position: usize,
    features: u32,
    block: Block,
    /// Closers of templates that do not occur in the rest of the text.
    absent: u8,
}

const SPACE: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const BEYOND: u8 = 3;
/// Operators that are always a single character.
const ALONE: u8 = 4;
const DOT: u8 = 5;
const MARK: u8 = 6;

const CLASSES: [u8; 256] = {
    let mut classes = [MARK; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            0..=0x20 | 0x7f => SPACE,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => LETTER,
            b'0'..=b'9' => DIGIT,
            0x80..=0xff => BEYOND,
            b'(' | b')' | b',' | b']' | b'}' | b'+' | b'*' => ALONE,
            b'.' => DOT,
            _ => MARK,
        };
        byte += 1;
    }
    classes
};

/// Bytes that always continue a word; the second table leaves out the dollar sign.
const IN_WORD: [bool; 256] = in_word(true);
const IN_PLAIN_WORD: [bool; 256] = in_word(false);

const fn in_word(dollar: bool) -> [bool; 256] {
    let mut inside = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        inside[byte] = matches!(CLASSES[byte], LETTER | DIGIT) || (dollar && byte as u8 == b'$');
        byte += 1;
    }
    inside
}

impl<'a> Pieces<'a> {
    pub fn new(text: &'a [u8], features: u32) -> Self {
        Self { text, position: 0, features, block: Block::default(), absent: 0 }
    }

    #[inline]
    fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    #[inline]
    fn at(&self, place: usize) -> u8 {
        self.text.get(place).copied().unwrap_or(0)
    }

    #[inline]
    fn eight(&self, place: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.text.get(place..)?.first_chunk()?))
    }

    /// Moves to the first character of the next piece.
    #[inline(always)]
    fn skip_space(&mut self) -> Option<u8> {
        self.position = self.block.space_end(self.text, self.position);
        let byte = *self.text.get(self.position)?;
        if byte < 0x7f { Some(byte) } else { self.skip_other_space() }
    }

    #[inline(never)]
    fn skip_other_space(&mut self) -> Option<u8> {
        loop {
            self.position += match self.text.get(self.position)? {
                ..=b' ' | 0x7f => 1,
                &byte => match space_at(self.text, self.position) {
                    0 => return Some(byte),
                    length => length,
                },
            }
        }
    }

    /// Returns the end of a run of letters, digits and, with `dollar`, dollar signs.
    #[inline]
    fn word_end(&self, mut place: usize, dollar: bool) -> usize {
        let inside = if dollar { &IN_WORD } else { &IN_PLAIN_WORD };
        while let Some(eight) = self.eight(place) {
            let letters = eight::first(eight::outside_word(eight, dollar));
            place += letters;
            if letters < 8 {
                if eight::byte(eight, letters) < 0x80 {
                    return place;
                }
                break;
            }
        }
        while let Some(&byte) = self.text.get(place) {
            if inside[byte as usize] {
                place += 1;
            } else if byte >= 0x80 && space_at(self.text, place) == 0 {
                place += character_length(byte);
            } else {
                return place;
            }
        }
        place
    }

    fn begins_word(&self, place: usize) -> bool {
        match CLASSES[self.at(place) as usize] {
            LETTER => true,
            BEYOND => space_at(self.text, place) == 0,
            _ => false,
        }
    }

    fn in_word(&self, place: usize) -> bool {
        CLASSES[self.at(place) as usize] == DIGIT || self.begins_word(place)
    }

    /// Returns whether an operand ends directly before an index: a colon or percent sign there is an operator.
    fn follows_operand(&self, place: usize) -> bool {
        place > 0 && {
            let byte = self.text[place - 1];
            IN_WORD[byte as usize] || byte >= 0x80 || matches!(byte, b')' | b']' | b'"' | b'\'' | b'`' | b':')
        }
    }

    fn closed(&self, kind: Kind, end: Option<usize>) -> (Kind, usize) {
        end.map_or((Kind::Unclosed, self.text.len()), |end| (kind, end))
    }

    /// A piece that does not begin with a letter, and whose kind depends on more than its first character.
    #[inline(never)]
    fn mark(&mut self, byte: u8, start: usize) -> (Kind, usize) {
        let next = self.at(start + 1);
        match byte {
            b'0'..=b'9' | b'.' => (Kind::Number, self.number_end(start)),
            b';' => (Kind::Semicolon, start + 1),
            b'\'' => self.closed(Kind::String, self.string_end(start, start)),
            b'"' if self.has(feature::DOUBLE_STRINGS) => self.closed(Kind::String, self.string_end(start, start)),
            b'"' | b'`' => self.closed(Kind::Name, doubled_end(self.text, start + 1, byte)),
            b'[' if self.has(feature::BRACKET_NAMES) => {
                self.closed(Kind::Name, doubled_end(self.text, start + 1, b']'))
            }
            b'-' if next == b'-' => (Kind::Comment, line_end(self.text, start)),
            b'/' if next == b'*' => self.closed(Kind::Comment, self.comment_end(start)),
            b'/' if next == b'/'
                && self.has(feature::SLASH_COMMENTS)
                && (start == 0 || self.text[start - 1] != b':') =>
            {
                (Kind::Comment, line_end(self.text, start))
            }
            b'#' if self.has(feature::HASH_COMMENTS) => (Kind::Comment, line_end(self.text, start)),
            b'{' if matches!(next, b'{' | b'%' | b'#') => self.template(start, next),
            b'$' => self.dollar(start, next),
            b'#' => self.hash(start, next),
            b'@' if self.in_word(start + 1) => (Kind::Word, self.word_end(start + 1, true)),
            b'@' if next == b'@' && self.in_word(start + 2) => (Kind::Word, self.word_end(start + 2, true)),
            b'?' if !matches!(next, b'?' | b'|' | b'&') => (Kind::Placeholder, start + 1),
            b':' if self.in_word(start + 1) && !self.follows_operand(start) => {
                (Kind::Placeholder, self.word_end(start + 1, false))
            }
            b'%' | b'&' => match self.lead_placeholder(byte, start) {
                Some(end) => (Kind::Placeholder, end),
                None => (Kind::Operator, start + operator_length(self.text, start)),
            },
            _ => (Kind::Operator, start + operator_length(self.text, start)),
        }
    }

    /// A word, or a string that it is the prefix of.
    #[inline(always)]
    fn word(&mut self, start: usize) -> (Kind, usize) {
        let mut end = self.block.word_end(self.text, start);
        if self.block.may_end_beyond_ascii() {
            end = self.word_end(end, true);
        }
        if matches!(self.at(end), b'\'' | b'"' | b'&')
            && end - start <= 2
            && let Some(found) = self.prefixed(start, end)
        {
            return found;
        }
        (Kind::Word, end)
    }

    #[inline(never)]
    fn prefixed(&self, start: usize, end: usize) -> Option<(Kind, usize)> {
        let quote = self.at(end);
        let mut prefix = [0; 2];
        prefix[..end - start].copy_from_slice(&self.text[start..end]);
        prefix.make_ascii_lowercase();
        let prefix = &prefix[..end - start];
        if self.has(feature::Q_STRINGS) && quote == b'\'' && matches!(prefix, b"q" | b"nq") && end + 1 < self.text.len()
        {
            return Some(self.closed(Kind::OracleString, self.oracle_end(end + 1)));
        }
        let string = |end: Option<usize>| end.map(|end| (Kind::String, end));
        if quote == b'&' {
            let quote_at = end + 1;
            let opens = match self.at(quote_at) {
                b'\'' => true,
                b'"' => self.has(feature::DOUBLE_STRINGS),
                _ => false,
            };
            let applies = opens && prefix == b"u" && !self.has(feature::TRIPLE_STRINGS);
            return if applies { string(self.string_end(start, quote_at)) } else { None };
        }
        if quote == b'"' && !self.has(feature::DOUBLE_STRINGS) {
            return None;
        }
        let applies = if self.has(feature::TRIPLE_STRINGS) {
            matches!(prefix, b"r" | b"b" | b"rb" | b"br")
        } else {
            matches!(prefix, b"n" | b"b" | b"x")
                || (prefix == b"e" && quote == b'\'' && self.has(feature::E_STRINGS))
                || (prefix == b"r" && self.has(feature::RAW_STRINGS))
        };
        if applies { string(self.string_end(start, end)) } else { None }
    }

    /// Returns the end of the string whose quote is at `quote_at`; its prefix, if any, begins at `start`.
    fn string_end(&self, start: usize, quote_at: usize) -> Option<usize> {
        let quote = self.text[quote_at];
        let body = quote_at + 1;
        if self.has(feature::TRIPLE_STRINGS) && self.at(body) == quote && self.at(body + 1) == quote {
            return triple_end(self.text, body + 2, quote);
        }
        let prefix = if start < quote_at { self.text[start] | 0x20 } else { 0 };
        if prefix == b'r' && self.has(feature::RAW_STRINGS) {
            return memchr(quote, self.text.get(body..)?).map(|found| body + found + 1);
        }
        if self.has(feature::BACKSLASH) || (prefix == b'e' && self.has(feature::E_STRINGS)) {
            return escaped_end(self.text, body, quote);
        }
        doubled_end(self.text, body, quote)
    }

    /// Returns the end of a q'…' whose delimiter is at `place`.
    fn oracle_end(&self, place: usize) -> Option<usize> {
        let opener = self.text[place];
        let length = character_length(opener).min(self.text.len() - place);
        let mut closer = [0; 5];
        closer[..length].copy_from_slice(&self.text[place..place + length]);
        closer[0] = match opener {
            b'[' => b']',
            b'{' => b'}',
            b'(' => b')',
            b'<' => b'>',
            _ => opener,
        };
        closer[length] = b'\'';
        let body = place + length;
        memmem::find(&self.text[body..], &closer[..=length]).map(|found| body + found + length + 1)
    }

    fn comment_end(&self, start: usize) -> Option<usize> {
        if !self.has(feature::NESTED_COMMENTS) {
            return memmem::find(&self.text[start + 2..], b"*/").map(|found| start + found + 4);
        }
        let (mut place, mut depth) = (start + 2, 1usize);
        loop {
            place += memchr2(b'*', b'/', self.text.get(place..)?)?;
            match (self.text[place], self.at(place + 1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    place += 1;
                    continue;
                }
            }
            place += 2;
            if depth == 0 {
                return Some(place);
            }
        }
    }

    fn template(&mut self, start: usize, next: u8) -> (Kind, usize) {
        let (closer, bit) = match next {
            b'{' => (b"}}", 1),
            b'%' => (b"%}", 2),
            _ => (b"#}", 4),
        };
        if self.absent & bit == 0 {
            if let Some(found) = memmem::find(&self.text[start + 2..], closer) {
                let kind = if next == b'#' { Kind::Comment } else { Kind::Template };
                return (kind, start + found + 4);
            }
            self.absent |= bit;
        }
        (Kind::Operator, start + 1)
    }

    fn dollar(&self, start: usize, next: u8) -> (Kind, usize) {
        if self.has(feature::DOLLAR_QUOTES) {
            let mut tag = start + 1;
            if self.has(feature::DOLLAR_TAGS) && self.begins_word(tag) {
                tag = self.word_end(tag, false);
            }
            if self.at(tag) == b'$' {
                let body = tag + 1;
                let found = memmem::find(&self.text[body..], &self.text[start..body]);
                return self.closed(Kind::DollarString, found.map(|found| body + found + body - start));
            }
        }
        if next == b'{'
            && let Some(end) = self.braces_end(start)
        {
            return (Kind::Placeholder, end);
        }
        if next.is_ascii_digit() && !self.has(feature::STAGE_COLUMNS) {
            let digits = self.text[start + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            return (Kind::Placeholder, start + 1 + digits);
        }
        match self.in_word(start + 1) {
            true => (Kind::Word, self.word_end(start + 1, false)),
            false => (Kind::Operator, start + 1),
        }
    }

    /// Returns the end of `${…}` or `#{…}`, which is on one line and contains no brace.
    fn braces_end(&self, start: usize) -> Option<usize> {
        let body = start + 2;
        let length = self.text[body..].iter().position(|byte| matches!(byte, b'{' | b'}' | b'\n'))?;
        (self.text[body + length] == b'}').then_some(body + length + 1)
    }

    fn hash(&self, start: usize, next: u8) -> (Kind, usize) {
        if next == b'{'
            && let Some(end) = self.braces_end(start)
        {
            return (Kind::Placeholder, end);
        }
        if self.has(feature::HASH_NAMES) {
            if next == b'#'
                && let Some(end) = self.hash_placeholder_end(start)
            {
                return (Kind::Placeholder, end);
            }
            let name = start + 1 + usize::from(next == b'#');
            if self.in_word(name) {
                return (Kind::Word, self.word_end(name, true));
            }
        }
        (Kind::Operator, start + operator_length(self.text, start))
    }

    /// Returns the end of `##name##`, `##name:type##` or `##name?default##`.
    fn hash_placeholder_end(&self, start: usize) -> Option<usize> {
        let mut place = start + 2;
        while self.at(place) == b':' || self.in_word(place) {
            place = if self.at(place) == b':' { place + 1 } else { self.word_end(place, false) };
        }
        if place == start + 2 {
            return None;
        }
        if self.at(place) == b'?' {
            place += memchr2(b'#', b'\n', &self.text[place..])?;
        }
        self.text[place..].starts_with(b"##").then_some(place + 2)
    }

    /// Returns the end of `%s`, `%(name)s` or `&name`.
    fn lead_placeholder(&self, lead: u8, start: usize) -> Option<usize> {
        if self.follows_operand(start) {
            return None;
        }
        if lead == b'&' {
            let name = start + 1 + usize::from(self.at(start + 1) == b'&');
            return (self.has(feature::AMPERSANDS) && self.begins_word(name)).then(|| self.word_end(name, false));
        }
        let mut place = start + 1;
        if self.at(place) == b'(' {
            let end = self.word_end(place + 1, false);
            if end == place + 1 || self.at(end) != b')' {
                return None;
            }
            place = end + 1;
        }
        let goes_on = self.at(place + 1) == b'$' || self.in_word(place + 1);
        (self.at(place) == b's' && !goes_on).then_some(place + 1)
    }

    fn number_end(&self, start: usize) -> usize {
        let grouped = self.has(feature::DIGIT_GROUPS);
        // The end of a run of digits; with `grouped`, an underscore may precede a digit of the run.
        let run = |from: usize, leading: bool, is_digit: fn(u8) -> bool| {
            let mut end = from;
            loop {
                if is_digit(self.at(end)) {
                    end += 1;
                } else if grouped && (leading || end > from) && self.at(end) == b'_' && is_digit(self.at(end + 1)) {
                    end += 2;
                } else {
                    return end;
                }
            }
        };
        if self.at(start) == b'0' {
            let radix: Option<fn(u8) -> bool> = match self.at(start + 1) | 0x20 {
                b'x' => Some(|byte| byte.is_ascii_hexdigit()),
                b'o' if grouped => Some(|byte| matches!(byte, b'0'..=b'7')),
                b'b' if grouped => Some(|byte| matches!(byte, b'0' | b'1')),
                _ => None,
            };
            if let Some(is_digit) = radix {
                let end = run(start + 2, true, is_digit);
                if end > start + 2 {
                    return end;
                }
            }
        }
        let digits = |from: usize| run(from, false, |byte| byte.is_ascii_digit());
        let mut end = digits(start);
        if self.at(end) == b'.' {
            end = digits(end + 1);
        }
        if self.at(end) | 0x20 == b'e' {
            let sign = usize::from(matches!(self.at(end + 1), b'+' | b'-'));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                return exponent;
            }
        }
        end
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    #[inline(always)]
    fn next(&mut self) -> Option<Piece> {
        let byte = self.skip_space()?;
        let start = self.position;
        let (kind, end) = match CLASSES[byte as usize] {
            LETTER | BEYOND => self.word(start),
            ALONE => (Kind::Operator, start + 1),
            DOT if !self.at(start + 1).is_ascii_digit() => (Kind::Operator, start + 1),
            _ => self.mark(byte, start),
        };
        self.position = end;
        Some(Piece { kind, start, end })
    }
}
