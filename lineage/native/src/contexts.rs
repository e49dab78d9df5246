//! The context of a literal, and whether it is dropped there; equivalent to `contexts.py` and `levels.py`.

use crate::facts::role;

/// The kind of the preceding piece, as bits.
pub mod behind {
    pub const NOTHING: u16 = 0;
    pub const EQUALS: u16 = 1;
    pub const COMPARISON: u16 = 2;
    pub const LIKE: u16 = 4;
    pub const LOGIC: u16 = 8;
    pub const ARITHMETIC: u16 = 16;
    pub const PARENTHESIS: u16 = 32;
    pub const COMMA: u16 = 64;
    pub const INTERVAL: u16 = 128;
    pub const LIMIT: u16 = 256;
    pub const ITEM: u16 = 512;
    pub const CONCAT: u16 = 1024;
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Region {
    #[default]
    Other,
    Fixed,
    Projection,
    Sources,
    Condition,
    Grouped,
    Keys,
    Assignment,
    Rows,
    Row,
    List,
    Pure,
    Call,
    Limited,
}

const COMPARED: u16 = behind::EQUALS | behind::COMPARISON | behind::LIKE | behind::INTERVAL;
const COMPUTED: u16 = behind::LOGIC | behind::ARITHMETIC | behind::CONCAT;
const CONDITION: u16 = COMPARED | COMPUTED | behind::LIMIT;
const CONSTANTS: u16 = COMPARED | COMPUTED | behind::PARENTHESIS | behind::COMMA;

impl Region {
    /// Returns the preceding pieces after which a literal is dropped in this region.
    pub fn dropped(self) -> u16 {
        match self {
            Self::Other | Self::Fixed => behind::NOTHING,
            Self::Projection | Self::Keys | Self::Assignment => COMPARED | behind::LIMIT,
            Self::Sources => behind::INTERVAL | behind::LIMIT,
            Self::Condition => CONDITION,
            Self::Grouped => CONDITION | behind::PARENTHESIS | behind::COMMA,
            Self::Rows => behind::COMMA | behind::INTERVAL | behind::LIMIT,
            Self::Row | Self::List | Self::Pure => CONSTANTS,
            Self::Call => COMPARED,
            Self::Limited => behind::PARENTHESIS | behind::ARITHMETIC | behind::CONCAT,
        }
    }

    /// Returns further preceding pieces after which a string or number is dropped in this region.
    pub fn dropped_constants(self) -> u16 {
        match self {
            Self::Projection => COMPUTED | behind::ITEM | behind::COMMA | behind::PARENTHESIS,
            Self::Keys => COMPUTED,
            Self::Assignment => COMPUTED | behind::PARENTHESIS | behind::COMMA,
            Self::Call => behind::LOGIC | behind::ARITHMETIC,
            _ => behind::NOTHING,
        }
    }

    pub fn takes_rows(self) -> bool {
        matches!(self, Self::Other | Self::Sources | Self::List)
    }

    pub fn holds_constants(self) -> bool {
        matches!(self, Self::Row | Self::List | Self::Rows)
    }

    fn takes_lists(self) -> bool {
        matches!(self, Self::Condition | Self::Grouped | Self::Row | Self::List | Self::Pure)
    }

    fn takes_constants(self) -> bool {
        self.takes_lists() || matches!(self, Self::Projection | Self::Keys | Self::Assignment | Self::Call)
    }

    fn is_unknown(self) -> bool {
        matches!(self, Self::Other | Self::Sources)
    }
}

/// One level of brackets or CASE, or the statement itself. Positions are in the output.
#[derive(Default)]
pub struct Level {
    pub region: Region,
    pub base: Region,
    pub is_case: bool,
    pub is_row: bool,
    pub loops: bool,
    pub updates: bool,
    pub inserts: bool,
    pub selects: bool,
    pub named: bool,
    /// Number of bytes of dropped constants before the select-list item.
    pub item: usize,
    pub between: bool,
    pub start: usize,
    pub last_row: Option<(usize, usize)>,
    pub last_dropped: Option<usize>,
}

impl Level {
    /// Begins another region; a fixed region does not change.
    pub fn enter(&mut self, region: Region) {
        if self.region != Region::Fixed {
            self.region = region;
        }
        (self.loops, self.between) = (false, false);
    }
}

/// Returns the region that a bracket begins in a level, and whether it is a row of constants.
pub fn inner_region(level: &mut Level, behind: u16, role: u8, opener: u8, pure: bool) -> (Region, bool) {
    let region = level.region;
    if region == Region::Fixed || role == role::PIVOT || (role == role::COLUMNS && opener == b'(') {
        return (Region::Fixed, false);
    }
    if opener == b'{' {
        return (Region::Other, false);
    }
    if role == role::IN && !region.is_unknown() {
        return (if level.loops { Region::Fixed } else { Region::List }, false);
    }
    if opener == b'[' {
        let lists = region.takes_lists() && (behind != 0 || role == role::ARRAY);
        return (if lists { Region::List } else { Region::Other }, false);
    }
    if role == role::VALUES && region.takes_rows() {
        level.region = Region::Rows;
        return (Region::Row, true);
    }
    if (region == Region::Rows && (behind & behind::COMMA != 0 || role == role::ROW))
        || (region == Region::List && behind & (behind::PARENTHESIS | behind::COMMA) != 0)
    {
        return (Region::Row, true);
    }
    let inner = if role == role::TOP && behind & behind::LIMIT != 0 {
        Region::Limited
    } else if role == role::PARTITION {
        Region::Call
    } else if behind & !(behind::LIMIT | behind::INTERVAL) != 0 {
        match region {
            Region::Condition => Region::Grouped,
            Region::Row | Region::List => Region::Pure,
            same => same,
        }
    } else if pure && region.takes_constants() {
        Region::Pure
    } else if region.is_unknown() {
        Region::Other
    } else {
        Region::Call
    };
    (inner, false)
}
