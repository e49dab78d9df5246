//! Splits a script's text into statements; equivalent to `lineage/sql/scan/split.py`, which defines the rules.

use memchr::memmem;

use crate::ends::line_end;
use crate::facts::{self, feature, role};
use crate::mask::characters;
use crate::pieces::{Kind, Piece, Pieces};

const MAX_INDENT: usize = 80;
const HEAD_WORDS: usize = 12;
const ROUTINES: [&[u8]; 7] = [b"procedure", b"proc", b"function", b"trigger", b"package", b"event", b"task"];
const TRANSACTION: [&[u8]; 13] = [
    b"transaction",
    b"tran",
    b"work",
    b"read",
    b"isolation",
    b"deferred",
    b"immediate",
    b"exclusive",
    b"concurrent",
    b"name",
    b"distributed",
    b"dialog",
    b"conversation",
];
const BEFORE_A_STATEMENT: [&[u8]; 9] = [b";", b":", b">>", b"then", b"else", b"do", b"loop", b"begin", b"repeat"];

/// Returns the start and end of each statement, in characters.
pub fn split_statements(text: &str, features: u32) -> Vec<(usize, usize)> {
    let mut found = Splitter::new(text.as_bytes(), features).run();
    if !text.is_ascii() {
        let (mut bytes, mut points) = (0, 0);
        for (start, end) in &mut found {
            for place in [start, end] {
                points += characters(&text.as_bytes()[bytes..*place]);
                bytes = std::mem::replace(place, points);
            }
        }
    }
    found
}

#[derive(Default)]
struct Statement {
    start: Option<usize>,
    end: usize,
    segment: Option<usize>,
    segments: Vec<(usize, usize)>,
    words: usize,
    depth: usize,
    defines: bool,
    routine: bool,
    package: bool,
    declares: bool,
    closed: bool,
    begin: bool,
}

struct Splitter<'a> {
    text: &'a [u8],
    pieces: Pieces<'a>,
    features: u32,
    delimiter: &'a [u8],
    found: Vec<(usize, usize)>,
    now: Statement,
    previous: &'a [u8],
}

fn is(word: &[u8], known: &[u8]) -> bool {
    word.eq_ignore_ascii_case(known)
}

fn among(word: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|one| is(word, one))
}

impl<'a> Splitter<'a> {
    fn new(text: &'a [u8], features: u32) -> Self {
        let pieces = Pieces::new(text, features);
        Self { text, pieces, features, delimiter: b"", found: Vec::new(), now: Statement::default(), previous: b";" }
    }

    fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    fn run(mut self) -> Vec<(usize, usize)> {
        let reads_lines = self.has(feature::GO_LINES | feature::SLASH_LINES | feature::DELIMITERS);
        while let Some(piece) = self.pieces.next() {
            if piece.kind == Kind::Comment {
                continue;
            }
            if reads_lines && let Some(after) = self.client_line(piece) {
                self.pieces.position = after;
                continue;
            }
            if piece.kind == Kind::Semicolon && self.delimiter.is_empty() {
                self.semicolon();
            } else {
                self.take(piece);
            }
        }
        self.finish();
        self.found
    }

    /// Returns the position after a GO, `/` or DELIMITER line, or a custom delimiter, that begins here.
    fn client_line(&mut self, piece: Piece) -> Option<usize> {
        let Piece { kind, start, end } = piece;
        let text = self.text;
        if !self.delimiter.is_empty() && !matches!(kind, Kind::String | Kind::Name | Kind::Unclosed) {
            let window = end.max(start + self.delimiter.len()).min(text.len());
            if let Some(at) = memmem::find(&text[start..window], self.delimiter) {
                if at > 0 {
                    self.take(Piece { kind, start, end: start + at });
                }
                self.finish();
                return Some(start + at + self.delimiter.len());
            }
        }
        let word = &text[start..end];
        let mut chosen: &[u8] = b"";
        let after = match kind {
            Kind::Word if self.has(feature::GO_LINES) && is(word, b"go") => go_line_end(text, end),
            Kind::Operator if self.has(feature::SLASH_LINES) && word == b"/" => blank_line_end(text, end),
            Kind::Word if self.has(feature::DELIMITERS) && self.now.start.is_none() && is(word, b"delimiter") => {
                chosen = chosen_delimiter(text, end)?;
                Some(line_end(text, end))
            }
            _ => None,
        }?;
        // MySQL's client accepts DELIMITER anywhere outside a statement, also after a comment.
        if chosen.is_empty() && !self.begins_line(start) {
            return None;
        }
        self.delimiter = if chosen == b";" { b"" } else { chosen };
        self.finish();
        Some(after)
    }

    fn begins_line(&self, start: usize) -> bool {
        let mut place = start;
        while place > 0 && start - place < MAX_INDENT && matches!(self.text[place - 1], b' ' | b'\t' | b'\r') {
            place -= 1;
        }
        place == 0 || self.text[place - 1] == b'\n'
    }

    fn take(&mut self, piece: Piece) {
        let Piece { kind, start, end } = piece;
        self.now.start.get_or_insert(start);
        self.now.segment.get_or_insert(start);
        self.now.end = end;
        let text = &self.text[start..end];
        let word = if kind == Kind::Word { text } else { b"" };
        if self.now.begin {
            self.now.begin = false;
            self.now.depth += usize::from(!among(word, &TRANSACTION));
        }
        if kind == Kind::Word {
            self.now.words += 1;
            self.head(word);
            if self.previous != b"." {
                self.count(facts::word(self.text, start, end).role);
            }
        }
        self.previous = if matches!(kind, Kind::Word | Kind::Operator) { text } else { b"" };
    }

    /// Updates the expected kind of body from a statement's first words.
    fn head(&mut self, word: &[u8]) {
        let now = &mut self.now;
        let declarations = self.features & feature::DECLARATIONS != 0;
        if now.words == 1 {
            now.defines = is(word, b"create") || is(word, b"alter");
            now.declares = declarations && is(word, b"declare");
        } else if now.defines && !now.routine && now.words <= HEAD_WORDS && among(word, &ROUTINES) {
            now.routine = true;
            now.package = is(word, b"package");
            now.declares = self.features & feature::SLASH_LINES != 0;
        } else if now.routine && is(word, b"declare") {
            now.declares = declarations;
        }
    }

    /// Counts the openers and closers of blocks; whether BEGIN opens one is decided at the next piece.
    fn count(&mut self, role: u8) {
        let blocks = self.has(feature::BLOCKS);
        let batch_bodies = self.has(feature::BATCH_BODIES);
        let control_flow = self.has(feature::CONTROL_FLOW);
        let now = &mut self.now;
        match role {
            role::BEGIN => {
                let starts = now.words == 1 || batch_bodies || now.declares;
                now.begin = now.depth > 0 || now.routine || (blocks && starts);
            }
            role::END if now.depth > 0 && !is(self.previous, b"as") => {
                now.depth -= 1;
                now.closed = now.depth == 0;
            }
            role::CASE => now.depth += usize::from(now.depth > 0 && !is(self.previous, b"end")),
            role::LOOP | role::FOR if control_flow => {
                let inside = now.depth > 0 && among(self.previous, &BEFORE_A_STATEMENT);
                now.depth += usize::from(inside || (blocks && now.words == 1));
            }
            _ => {}
        }
    }

    fn semicolon(&mut self) {
        self.now.begin = false;
        if self.now.start.is_none() {
            return;
        }
        if self.now.depth == 0 && !self.goes_on() {
            self.finish();
            return;
        }
        if let Some(segment) = self.now.segment.take() {
            self.now.segments.push((segment, self.now.end));
        }
        self.previous = b";";
    }

    /// Returns whether the statement continues after a semicolon outside blocks.
    fn goes_on(&self) -> bool {
        let batch_body = self.now.routine && self.has(feature::BATCH_BODIES);
        self.now.package || (!self.now.closed && (self.now.declares || batch_body))
    }

    /// Ends the statement; if its block was not closed, splits it at each of its semicolons.
    fn finish(&mut self) {
        let now = std::mem::take(&mut self.now);
        self.previous = b";";
        let Some(start) = now.start else { return };
        let open = now.depth > 0 || (now.declares && !now.closed && !now.package);
        if now.segments.is_empty() || !open {
            self.found.push((start, now.end));
            return;
        }
        self.found.extend(now.segments);
        self.found.extend(now.segment.map(|segment| (segment, now.end)));
    }
}

fn skip(text: &[u8], place: usize, wanted: fn(u8) -> bool) -> usize {
    place + text[place..].iter().take_while(|byte| wanted(**byte)).count()
}

fn ends_line(text: &[u8], place: usize) -> bool {
    text.get(place).is_none_or(|byte| *byte == b'\n')
}

fn go_line_end(text: &[u8], end: usize) -> Option<usize> {
    let blank: fn(u8) -> bool = |byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
    let mut place = skip(text, end, blank);
    place = skip(text, place, |byte| byte.is_ascii_digit());
    place = skip(text, place, blank);
    if text[place..].starts_with(b"--") {
        place = line_end(text, place);
    }
    ends_line(text, place).then_some(place)
}

fn blank_line_end(text: &[u8], end: usize) -> Option<usize> {
    let place = skip(text, end, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
    ends_line(text, place).then_some(place)
}

fn chosen_delimiter(text: &[u8], end: usize) -> Option<&[u8]> {
    let start = skip(text, end, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let stop = skip(text, start, |byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    (start > end && stop > start).then_some(&text[start..stop])
}
