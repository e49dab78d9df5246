//! A statement's fingerprint; equivalent to `lineage/sql/scan/fingerprinting/fingerprints.py`, which defines what is left out.

use blake2b_simd::many::{HashManyJob, hash_many};
use blake2b_simd::{Hash, Params};

use crate::contexts::{Level, Region, behind, inner_region};
use crate::facts::{self, feature, flag, role};
use crate::pieces::{Kind, Piece, Pieces};

const BITS_IN_BYTES: usize = 16;
/// Number of letters written at once: most names are shorter.
const AT_ONCE: usize = 16;

pub type Fingerprint = [u8; BITS_IN_BYTES];

fn parameters() -> Params {
    let mut parameters = Params::new();
    parameters.hash_length(BITS_IN_BYTES);
    parameters
}

fn bits(hash: &Hash) -> Fingerprint {
    let mut bits = [0; BITS_IN_BYTES];
    bits.copy_from_slice(hash.as_bytes());
    bits
}

/// Returns 128 bits of BLAKE2b over the normal form of a statement.
pub fn fingerprint(text: &str, features: u32) -> Fingerprint {
    let mut form = Vec::new();
    normal_form(text, features, &mut form);
    bits(&parameters().hash(&form))
}

/// Hashes several normal forms in parallel with SIMD instructions, in a third of the time.
pub fn hash_forms(forms: &[Vec<u8>], mut take: impl FnMut(Fingerprint)) {
    let parameters = parameters();
    let mut jobs: Vec<HashManyJob> = forms.iter().map(|form| HashManyJob::new(&parameters, form)).collect();
    hash_many(jobs.iter_mut());
    jobs.iter().for_each(|job| take(bits(&job.to_hash())));
}

/// Writes the normal form of a statement.
pub fn normal_form(text: &str, features: u32, form: &mut Vec<u8>) {
    form.clear();
    form.reserve(text.len());
    let mut writer = Writer::new(text.as_bytes(), features, form);
    for piece in Pieces::new(text.as_bytes(), features) {
        writer.take(piece);
    }
    writer.finish();
}

/// Writes `start..end` in lower case, nearly always in one step: bytes written past the end are removed again.
#[inline]
fn push_lower(out: &mut Vec<u8>, text: &[u8], start: usize, end: usize) {
    let length = out.len() + end - start;
    let mut place = start;
    while let (true, Some(letters)) = (place < end, text[place..].first_chunk::<AT_ONCE>()) {
        out.extend_from_slice(&letters.map(|letter| letter.to_ascii_lowercase()));
        place += AT_ONCE;
    }
    if place < end {
        out.extend(text[place..end].iter().map(u8::to_ascii_lowercase));
    }
    out.truncate(length);
}

/// The position in the output of a literal's sign or type, and whether a word ends there.
type Lead = Option<(usize, bool)>;

/// The kind of the current piece, for the next one.
#[derive(Default)]
struct Before {
    behind: u16,
    behind_type: u16,
    role: u8,
    pure: bool,
    limited: bool,
    dotted: bool,
    starred: bool,
    path: Path,
    lead: Lead,
}

/// Whether the next word belongs to a case-sensitive path, or the last piece did.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Path {
    #[default]
    None,
    GoesOn,
    Within,
}

struct Writer<'a> {
    text: &'a [u8],
    out: &'a mut Vec<u8>,
    wordy: bool,
    folds: bool,
    alias_equals: bool,
    exact_paths: bool,
    levels: Vec<Level>,
    /// The innermost level; the enclosing ones are in `levels`.
    level: Level,
    before: Before,
    ended: bool,
    /// The constants dropped as values, each preceded by a space.
    constants: Vec<u8>,
    names_by_text: bool,
    runs_sql: bool,
}

impl<'a> Writer<'a> {
    fn new(text: &'a [u8], features: u32, out: &'a mut Vec<u8>) -> Self {
        Self {
            text,
            out,
            wordy: false,
            folds: features & feature::KEEPS_CASE == 0,
            alias_equals: features & feature::ALIAS_EQUALS != 0,
            exact_paths: features & feature::EXACT_PATHS != 0,
            levels: Vec::new(),
            level: Level::default(),
            before: Before::default(),
            ended: false,
            constants: Vec::new(),
            names_by_text: false,
            runs_sql: false,
        }
    }

    /// Handles the end of the text.
    fn finish(&mut self) {
        self.end_items();
        if self.runs_sql {
            self.bring_back(0);
        }
    }

    /// Handles the end of the items of all open select lists, the outermost first.
    fn end_items(&mut self) {
        let levels = std::mem::take(&mut self.levels);
        for outer in levels {
            let inner = std::mem::replace(&mut self.level, outer);
            self.end_item();
            self.level = inner;
        }
        self.end_item();
    }

    /// Handles the end of a select-list item, or of the list.
    #[inline]
    fn end_item(&mut self) {
        if self.level.selects {
            if self.names_by_text && !self.level.named {
                self.bring_back(self.level.item);
            }
            self.level.item = self.constants.len();
            self.level.named = false;
        }
    }

    fn bring_back(&mut self, start: usize) {
        if self.constants.len() > start {
            self.out.push(b'{');
            self.out.extend_from_slice(&self.constants[start + 1..]);
            self.out.push(b'}');
            self.wordy = false;
        }
    }

    /// Begins another region of the innermost level.
    #[inline]
    fn enter(&mut self, region: Region) {
        self.end_item();
        self.level.enter(region);
        self.level.selects = region == Region::Projection && !self.level.is_case;
        self.level.item = self.constants.len();
        self.level.named = false;
    }

    fn keep_back(&mut self, text: &[u8]) {
        self.constants.push(b' ');
        self.constants.extend_from_slice(text);
    }

    #[inline]
    fn add(&mut self, text: &[u8], wordy: bool) {
        if wordy {
            self.space();
        }
        self.out.extend_from_slice(text);
        self.wordy = wordy;
    }

    /// Separates a word from a preceding word by a space; branch-free, so the space is removed again if unnecessary.
    #[inline]
    fn space(&mut self) {
        let length = self.out.len() + usize::from(self.wordy);
        self.out.push(b' ');
        self.out.truncate(length);
    }

    fn cut(&mut self, place: usize, wordy: bool) {
        self.out.truncate(place);
        self.wordy = wordy;
    }

    /// Handles a piece. Dispatches on the kind that `Pieces` determined, so that no test is repeated.
    #[inline(always)]
    fn take(&mut self, piece: Piece) {
        let Piece { kind, start, end } = piece;
        let text = &self.text[start..end];
        match kind {
            Kind::Word => {
                self.begin(false);
                self.word(start, end);
            }
            Kind::Operator => {
                self.begin(text == b"(");
                self.operator(text);
            }
            Kind::Comment => {}
            Kind::Semicolon => {
                self.end_items();
                self.names_by_text = false;
                self.ended = !self.out.is_empty();
                self.levels.clear();
                self.level = Level::default();
                self.before = Before::default();
            }
            Kind::Name | Kind::Unclosed => {
                self.begin(false);
                self.as_it_is(text);
            }
            _ => {
                self.begin(false);
                let is_value = matches!(kind, Kind::String | Kind::OracleString | Kind::DollarString | Kind::Number);
                self.literal(text, kind == Kind::Number, is_value);
            }
        }
    }

    /// Completes actions that depend on this piece; `opens`: it is an opening bracket.
    #[inline(always)]
    fn begin(&mut self, opens: bool) {
        if self.ended {
            self.ended = false;
            self.add(b";", false);
        }
        if self.before.role == role::PIVOT && !opens {
            self.level.region = Region::Fixed;
        }
    }

    fn as_it_is(&mut self, text: &[u8]) {
        let path = if self.before.path == Path::GoesOn { Path::Within } else { Path::None };
        self.add(text, true);
        self.before = Before { path, ..Before::default() };
    }

    /// Handles a literal. Its text is written only if the literal is kept.
    fn literal(&mut self, text: &[u8], is_number: bool, is_value: bool) {
        if self.exact_paths && self.before.path == Path::GoesOn {
            self.as_it_is(text);
            return;
        }
        let before = std::mem::take(&mut self.before);
        let mut behind = if is_number { before.behind } else { before.behind | before.behind_type };
        if before.role == role::VALUES && self.level.region.takes_rows() {
            self.level.region = Region::Rows;
            behind = behind::COMMA;
        }
        let region = self.level.region;
        let mut dropped = region.dropped();
        if self.alias_equals && region == Region::Projection {
            dropped &= !behind::EQUALS;
        }
        if behind & dropped == 0 {
            let mut constants = if is_value { region.dropped_constants() } else { behind::NOTHING };
            if self.alias_equals && region == Region::Projection && !is_number {
                constants &= !(behind::ITEM | behind::COMMA); // T-SQL: SELECT 'name' = a
            }
            if behind & constants == 0 {
                self.add(text, true);
                return;
            }
            self.keep_back(text);
        } else if region == Region::Pure {
            self.keep_back(text);
        }
        if let Some((place, wordy)) = before.lead {
            self.cut(place, wordy);
        }
        match self.level.last_dropped {
            Some(last) if matches!(region, Region::List | Region::Rows) && self.out.get(last..) == Some(b",") => {
                self.cut(last, true);
            }
            _ => self.add(b"?", true),
        }
        self.level.last_dropped = Some(self.out.len());
        self.before.limited = behind & behind::LIMIT != 0;
    }

    #[inline]
    fn word(&mut self, start: usize, end: usize) {
        let text = &self.text[start..end];
        if self.exact_paths && (self.before.path == Path::GoesOn || text[0] == b'@') {
            self.before.path = Path::GoesOn;
            self.as_it_is(text);
            return;
        }
        let dotted = self.before.dotted;
        let word = facts::word(self.text, start, end);
        self.runs_sql |= word.flags & flag::DYNAMIC != 0; // also after a dot: `sys.sp_executesql`
        let known = if dotted { &facts::PLAIN } else { word };
        let role = known.role;
        let is_keyword = (role != role::PLAIN || known.flags & flag::RESERVED != 0) && known.flags & flag::SOFT == 0;
        if role == role::CONSTANT && self.level.region.holds_constants() {
            let lower = text.to_ascii_lowercase();
            self.literal(&lower, true, false);
            return;
        }
        if self.level.region == Region::Rows
            && !matches!(role, role::CONSTANT | role::ROW | role::TYPE | role::INTERVAL | role::ARRAY | role::VALUES)
        {
            self.level.region = Region::Other;
        }
        let here = (self.out.len(), self.wordy);
        if self.folds || is_keyword {
            self.space();
            push_lower(self.out, self.text, start, end);
            self.wordy = true;
        } else {
            self.add(text, true);
        }
        let pure = known.flags & flag::PURE != 0;
        if role == role::PLAIN {
            if self.before.role == role::BY && text.eq_ignore_ascii_case(b"name") {
                self.names_by_text = true;
            }
            self.before = Before { pure, ..Before::default() };
            return;
        }
        if role == role::CREATE {
            self.names_by_text = true;
        } else if role == role::AS && self.level.region == Region::Projection {
            self.level.named = true;
        }
        let previous = std::mem::take(&mut self.before);
        let lead = previous.lead.or(Some(here));
        let behind = self.meaning(role, previous.role, previous.starred);
        self.before = Before { behind, role, pure, ..Before::default() };
        self.before.starred = previous.starred && matches!(role, role::OPEN | role::SIMILAR);
        if role == role::TYPE {
            self.before.behind_type = previous.behind;
            self.before.lead = lead;
        }
    }

    /// Enters the region that a word begins; returns the word's kind for a literal after it.
    fn meaning(&mut self, role: u8, previous: u8, starred: bool) -> u16 {
        match role {
            role::CASE => {
                if previous != role::END {
                    let region = self.level.region;
                    self.open(Level { region, base: region, is_case: true, ..Level::default() });
                }
                behind::NOTHING
            }
            role::END => {
                if self.level.is_case {
                    self.pop();
                }
                behind::NOTHING
            }
            role::AND if std::mem::take(&mut self.level.between) => behind::LIKE,
            role::AND | role::OPEN => behind::LOGIC,
            role::FROM if previous == role::DISTINCT => behind::COMPARISON,
            role::ON if self.level.region != Region::Sources => behind::NOTHING,
            role::ON | role::CONDITION | role::WHEN => {
                self.level.inserts &= role == role::ON;
                self.enter(Region::Condition);
                behind::LOGIC
            }
            role::BY if previous == role::CONNECT => {
                self.enter(Region::Condition);
                behind::LOGIC
            }
            role::THEN => {
                let region = if self.level.is_case { self.level.base } else { Region::Other };
                self.enter(region);
                behind::LOGIC
            }
            role::SET => {
                let updates = std::mem::take(&mut self.level.updates);
                let writes = std::mem::take(&mut self.level.inserts) || updates;
                self.enter(if writes { Region::Assignment } else { Region::Other });
                behind::NOTHING
            }
            role::UPDATE if previous == role::KEY => {
                self.enter(Region::Assignment); // ON DUPLICATE KEY UPDATE
                behind::NOTHING
            }
            role::UPDATE => {
                self.enter(Region::Other);
                self.level.updates = true;
                self.level.inserts = false;
                behind::NOTHING
            }
            role::PROJECTION | role::FROM | role::SOURCE | role::OTHER | role::INSERT | role::CREATE | role::BY => {
                self.enter(match role {
                    role::PROJECTION => Region::Projection,
                    role::FROM | role::SOURCE => Region::Sources,
                    role::BY => Region::Keys,
                    _ => Region::Other,
                });
                self.level.inserts = role == role::INSERT || (self.level.inserts && role == role::SOURCE);
                if role == role::PROJECTION { behind::ITEM } else { behind::NOTHING }
            }
            role::VALUES => {
                self.level.inserts = false;
                behind::NOTHING
            }
            role::DISTINCT if previous == role::PROJECTION => behind::ITEM,
            role::FOR => {
                self.level.loops = true;
                behind::NOTHING
            }
            role::BETWEEN => {
                self.level.between = true;
                behind::LIKE
            }
            role::TO if previous == role::SIMILAR && !starred => behind::LIKE,
            role::TOP if matches!(previous, role::PROJECTION | role::DISTINCT) => behind::LIMIT,
            role::FIRST if previous == role::FETCH => behind::LIMIT,
            role::LIKE | role::SIMILAR if !starred => behind::LIKE,
            role::INTERVAL => behind::INTERVAL,
            role::LIMIT => behind::LIMIT,
            _ => behind::NOTHING,
        }
    }

    fn operator(&mut self, text: &[u8]) {
        match text {
            b"(" | b"[" | b"{" => {
                let Before { behind, role, pure, .. } = std::mem::take(&mut self.before);
                let (region, is_row) = inner_region(&mut self.level, behind, role, text[0], pure);
                self.open(Level { region, is_row, start: self.out.len(), ..Level::default() });
                self.add(text, false);
                self.before.behind = behind::PARENTHESIS;
            }
            b")" | b"]" | b"}" => self.close(text),
            b"-" | b"+" if self.before.behind != 0 => {
                let here = (self.out.len(), self.wordy);
                self.before.lead.get_or_insert(here);
                self.add(text, false);
            }
            _ => {
                let limited = self.before.limited && text == b",";
                let goes_on = self.exact_paths
                    && (matches!(text, [b':'] | [b'@', ..])
                        || (self.before.path != Path::None && matches!(text, b"." | b"/" | b"-")));
                if text == b"," {
                    self.end_item();
                }
                self.add(text, false);
                self.before = Before {
                    behind: if limited { behind::LIMIT } else { operator_behind(text) },
                    dotted: text == b".",
                    starred: text == b"*",
                    path: if goes_on { Path::GoesOn } else { Path::None },
                    ..Before::default()
                };
            }
        }
    }

    fn open(&mut self, inner: Level) {
        self.levels.push(std::mem::replace(&mut self.level, inner));
    }

    fn pop(&mut self) -> Option<Level> {
        let outer = self.levels.pop()?;
        Some(std::mem::replace(&mut self.level, outer))
    }

    fn close(&mut self, text: &[u8]) {
        self.end_item();
        self.add(text, false);
        let path = if self.exact_paths && text == b"]" { Path::Within } else { Path::None }; // v:key[0].key
        self.before = Before { path, ..Before::default() };
        while self.level.is_case && self.pop().is_some() {}
        let Some(closed) = self.pop() else { return };
        if !closed.is_row {
            return;
        }
        match self.level.last_row {
            Some((first, last)) if closed.start == last + 1 && self.repeats(first, last) => self.cut(last, false),
            _ => self.level.last_row = Some((closed.start, self.out.len())),
        }
    }

    /// Returns whether only a comma and a repetition of `first` to `last` were written since `last`.
    fn repeats(&self, first: usize, last: usize) -> bool {
        self.out[last] == b',' && self.out[first..last] == self.out[last + 1..]
    }
}

fn operator_behind(text: &[u8]) -> u16 {
    match text {
        b"," => behind::COMMA,
        b"=" | b"==" | b"<=>" => behind::EQUALS,
        b"<" | b">" | b"<=" | b">=" | b"<>" | b"!=" | b"^=" | b"~" | b"~*" | b"!~" | b"~~" => behind::COMPARISON,
        b"||" => behind::CONCAT,
        b"+" | b"-" | b"*" | b"/" | b"%" | b"|" | b"&" | b"^" | b"<<" | b">>" => behind::ARITHMETIC,
        _ => behind::NOTHING,
    }
}
