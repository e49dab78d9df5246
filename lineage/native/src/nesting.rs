//! Measures the nesting depth of a text; equivalent to `lineage/sql/scan/nesting.py`, which defines what counts.

use crate::facts::{self, flag, role};
use crate::pieces::{Kind, Pieces};

const OPEN_JOIN_WEIGHT: usize = 16;
const LONG_NAME: usize = 64;
const IN_TYPES: &[u8] = b"([{< ";
const JOINS: &[&[u8]] = &[b"join", b"straight_join"];

fn is(word: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// Returns the nesting depth of the deepest statement of a text; 0 for plain words.
pub fn nesting_depth(text: &str, features: u32) -> usize {
    let bytes = text.as_bytes();
    let mut measure = Measure::default();
    for piece in Pieces::new(bytes, features) {
        match piece.kind {
            Kind::Word => measure.word(bytes, piece.start, piece.end),
            Kind::Operator => measure.operator(&bytes[piece.start..piece.end]),
            Kind::Semicolon => measure.end(),
            Kind::Comment => {}
            Kind::Name => measure.name(&bytes[piece.start..piece.end]),
            _ => measure.operand(),
        }
    }
    measure.end();
    measure.deepest
}

struct Open {
    opener: u8,
    depth: usize,
    held: usize,
    joins: usize,
    subscripts: usize,
}

const CASE: u8 = b'c';

/// The kind of the previous piece.
#[derive(Default, Clone, Copy)]
struct Previous {
    dot: bool,
    nested: bool,
    chain: bool,
    join: bool,
    from: bool,
    subscript: bool,
}

#[derive(Default)]
struct Measure {
    deepest: usize,
    stack: Vec<Open>,
    brackets: Vec<usize>,
    depth: usize,
    run: usize,
    held: usize,
    joins: usize,
    subscripts: usize,
    unconditional: bool,
    previous: Previous,
}

impl Measure {
    fn end(&mut self) {
        self.settle_joins();
        self.stack.clear();
        self.brackets.clear();
        (self.depth, self.run, self.held, self.subscripts) = (0, 0, 0, 0);
        self.unconditional = false;
        self.previous = Previous::default();
    }

    fn operand(&mut self) {
        self.run = 0;
        self.previous = Previous::default();
    }

    fn name(&mut self, text: &[u8]) {
        self.operand();
        // The length is in characters. No byte of a multi-byte character equals a character that nests.
        let long = text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() > LONG_NAME;
        let within = if long { text.iter().filter(|byte| IN_TYPES.contains(byte)).count() } else { 0 };
        self.deepest = self.deepest.max(self.depth + self.held + self.joins + within);
    }

    fn word(&mut self, text: &[u8], start: usize, end: usize) {
        let known = facts::word(text, start, end);
        let word = &text[start..end];
        let before = self.previous;
        let role = if before.dot { role::PLAIN } else { known.role };
        let (nested, chain) = (known.flags & flag::NESTED != 0, known.flags & flag::CHAIN != 0);
        self.previous =
            Previous { nested, chain, join: is(word, JOINS), from: is(word, &[b"from"]), ..Previous::default() };
        if role == role::CASE {
            self.open(CASE);
        } else if chain {
            self.held += 1;
            self.note();
        } else if word[0] == b'_' || (before.from && self.previous.from) {
            self.run += 1;
            self.note();
        } else {
            self.run = 0;
            self.clause(word, role, !before.chain);
        }
        let crosses = is(word, &[b"cross", b"natural"]) && !before.join;
        let sided = self.unconditional && is(word, &[b"left", b"right", b"full", b"inner", b"outer"]);
        self.unconditional = crosses || sided;
    }

    fn clause(&mut self, word: &[u8], role: u8, begins: bool) {
        match role {
            role::END if self.top() == Some(CASE) => {
                self.close(self.stack.len() - 1);
            }
            role::ON => self.condition(),
            role::AND | role::OPEN => {
                self.held = 0;
                while self.top() == Some(b'<') {
                    self.close(self.stack.len() - 1);
                }
            }
            role::WHEN | role::THEN if self.top() == Some(CASE) => self.held = 0,
            _ if is(word, JOINS) => {
                self.joins += usize::from(!self.unconditional);
                self.note();
            }
            _ if is(word, &[b"using"]) => self.condition(),
            _ if begins && is(word, &[b"select", b"where", b"having"]) => {
                self.held = 0;
                self.settle_joins();
            }
            _ => {}
        }
    }

    fn condition(&mut self) {
        self.joins = self.joins.saturating_sub(1);
        self.held = 0;
    }

    fn operator(&mut self, text: &[u8]) {
        let (after_type, after_subscript) = (self.previous.nested, self.previous.subscript);
        self.previous = Previous { dot: text == b".", subscript: text == b"]", ..Previous::default() };
        match text {
            b"(" | b"[" | b"{" => {
                self.brackets.push(self.stack.len());
                self.subscripts = if text == b"[" && after_subscript { self.subscripts + 1 } else { 0 };
                self.open(text[0]);
            }
            b")" => self.close_bracket(b'('),
            b"]" => self.close_bracket(b'['),
            b"}" => self.close_bracket(b'{'),
            b"," => (self.run, self.held) = (0, 0),
            b"<" if after_type => self.open(b'<'),
            b">" | b">>" if self.top() == Some(b'<') => {
                self.close(self.stack.len() - 1);
                if text.len() == 2 && self.top() == Some(b'<') {
                    self.close(self.stack.len() - 1);
                }
            }
            b"." => {}
            b"!" | b":=" | b"->" => {
                self.held += 1;
                self.note();
            }
            _ => {
                self.depth += usize::from(text == b"|>");
                // In characters: an operator is ASCII, or a single character of any byte length.
                self.run += if text[0].is_ascii() { text.len() } else { 1 };
                self.note();
            }
        }
    }

    fn top(&self) -> Option<u8> {
        self.stack.last().map(|open| open.opener)
    }

    fn open(&mut self, opener: u8) {
        let (depth, held, joins, subscripts) = (self.depth, self.held, self.joins, self.subscripts);
        self.stack.push(Open { opener, depth, held, joins, subscripts });
        self.depth += 1 + self.run + held + joins + subscripts;
        (self.run, self.held, self.joins, self.subscripts) = (0, 0, 0, 0);
        self.note();
    }

    fn close_bracket(&mut self, opener: u8) {
        self.run = 0;
        if let Some(&place) = self.brackets.last()
            && self.stack[place].opener == opener
        {
            self.brackets.pop();
            self.close(place);
        }
    }

    fn close(&mut self, place: usize) {
        self.settle_joins();
        let open = &self.stack[place];
        (self.depth, self.held) = (open.depth, open.held);
        (self.joins, self.subscripts) = (open.joins, open.subscripts);
        self.stack.truncate(place);
    }

    /// Counts the joins whose ON can no longer come.
    fn settle_joins(&mut self) {
        self.deepest = self.deepest.max(self.depth + OPEN_JOIN_WEIGHT * self.joins);
        self.joins = 0;
    }

    fn note(&mut self) {
        self.deepest = self.deepest.max(self.depth + self.run + self.held + self.joins);
    }
}
