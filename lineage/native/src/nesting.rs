//! How deep a text nests; the twin of `lineage/sql/scan/nesting.py`, which says what counts.

use crate::facts::{self, flag, role};
use crate::pieces::{Kind, Pieces};

const OPEN_JOIN_WEIGHT: usize = 16;

/// Returns how deep the deepest statement of a text nests; 0 for plain words.
pub fn nesting_depth(text: &str, features: u32) -> usize {
    let bytes = text.as_bytes();
    let mut measure = Measure::default();
    for piece in Pieces::new(bytes, features) {
        match piece.kind {
            Kind::Word => measure.word(bytes, piece.start, piece.end),
            Kind::Operator => measure.operator(&bytes[piece.start..piece.end]),
            Kind::Semicolon => measure.end(),
            Kind::Comment => {}
            _ => measure.operand(),
        }
    }
    measure.end();
    measure.deepest
}

struct Open {
    opener: u8,
    depth: usize,
    nots: usize,
    joins: usize,
}

const CASE: u8 = b'c';

#[derive(Default, Clone, Copy, PartialEq)]
enum Previous {
    #[default]
    Other,
    Dot,
    NestedType,
}

#[derive(Default)]
struct Measure {
    deepest: usize,
    stack: Vec<Open>,
    brackets: Vec<usize>,
    depth: usize,
    run: usize,
    nots: usize,
    joins: usize,
    unconditional: bool,
    previous: Previous,
}

impl Measure {
    fn end(&mut self) {
        self.settle_joins();
        self.stack.clear();
        self.brackets.clear();
        (self.depth, self.run, self.nots) = (0, 0, 0);
        self.unconditional = false;
        self.previous = Previous::Other;
    }

    fn operand(&mut self) {
        self.run = 0;
        self.previous = Previous::Other;
    }

    fn word(&mut self, text: &[u8], start: usize, end: usize) {
        let known = facts::word(text, start, end);
        let word = &text[start..end];
        let role = if self.previous == Previous::Dot { role::PLAIN } else { known.role };
        let nested = known.flags & flag::NESTED != 0;
        self.previous = if nested { Previous::NestedType } else { Previous::Other };
        if role == role::CASE {
            self.open(CASE);
        } else if known.flags & flag::CHAIN != 0 {
            let not = word.eq_ignore_ascii_case(b"not");
            *(if not { &mut self.nots } else { &mut self.run }) += 1;
            self.note();
        } else {
            self.run = 0;
            self.clause(word, role);
        }
        let is = |known: &[&[u8]]| known.iter().any(|one| word.eq_ignore_ascii_case(one));
        self.unconditional =
            is(&[b"cross", b"natural"]) || (self.unconditional && is(&[b"left", b"right", b"full", b"inner", b"outer"]));
    }

    fn clause(&mut self, word: &[u8], role: u8) {
        match role {
            role::END => {
                if self.top() == Some(CASE) {
                    self.close(self.stack.len() - 1);
                }
            }
            role::ON => self.condition(),
            role::AND | role::OPEN => {
                self.nots = 0;
                while self.top() == Some(b'<') {
                    self.close(self.stack.len() - 1);
                }
            }
            role::PROJECTION
            | role::FROM
            | role::CONDITION
            | role::BY
            | role::LIMIT
            | role::OTHER
            | role::SET
            | role::VALUES => {
                self.nots = 0;
                self.settle_joins();
            }
            _ if word.eq_ignore_ascii_case(b"join") || word.eq_ignore_ascii_case(b"straight_join") => {
                self.joins += usize::from(!self.unconditional);
                self.note();
            }
            _ if word.eq_ignore_ascii_case(b"using") => self.condition(),
            _ => {}
        }
    }

    fn condition(&mut self) {
        self.joins = self.joins.saturating_sub(1);
        self.nots = 0;
    }

    fn operator(&mut self, text: &[u8]) {
        let after_type = self.previous == Previous::NestedType;
        self.previous = if text == b"." { Previous::Dot } else { Previous::Other };
        match text {
            b"(" | b"[" | b"{" => {
                self.brackets.push(self.stack.len());
                self.open(text[0]);
            }
            b")" => self.close_bracket(b'('),
            b"]" => self.close_bracket(b'['),
            b"}" => self.close_bracket(b'{'),
            b"," => (self.run, self.nots) = (0, 0),
            b"<" if after_type => self.open(b'<'),
            b">" | b">>" if self.top() == Some(b'<') => {
                self.close(self.stack.len() - 1);
                if text.len() == 2 && self.top() == Some(b'<') {
                    self.close(self.stack.len() - 1);
                }
            }
            b"." => {}
            _ => {
                // In characters: an operator is ASCII, or one character of any length.
                self.run += if text[0].is_ascii() { text.len() } else { 1 };
                self.note();
            }
        }
    }

    fn top(&self) -> Option<u8> {
        self.stack.last().map(|open| open.opener)
    }

    fn open(&mut self, opener: u8) {
        self.stack.push(Open { opener, depth: self.depth, nots: self.nots, joins: self.joins });
        self.depth += 1 + self.run + self.nots + self.joins;
        (self.run, self.nots, self.joins) = (0, 0, 0);
        self.note();
    }

    fn close_bracket(&mut self, opener: u8) {
        self.run = 0;
        if let Some(&place) = self.brackets.last() {
            if self.stack[place].opener == opener {
                self.brackets.pop();
                self.close(place);
            }
        }
    }

    fn close(&mut self, place: usize) {
        self.settle_joins();
        let open = &self.stack[place];
        (self.depth, self.nots, self.joins) = (open.depth, open.nots, open.joins);
        self.stack.truncate(place);
    }

    /// Counts the joins whose ON can no longer come.
    fn settle_joins(&mut self) {
        self.deepest = self.deepest.max(self.depth + OPEN_JOIN_WEIGHT * self.joins);
        self.joins = 0;
    }

    fn note(&mut self) {
        self.deepest = self.deepest.max(self.depth + self.run + self.nots + self.joins);
    }
}
