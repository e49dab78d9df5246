"""A statement's fingerprint: the same for all statements that differ only in what cannot affect their lineage.

The fingerprint is the hash of a normal form. The normal form leaves out comments, white space, the case of keywords
(of names where the dialect folds them), and literals that are compared, listed, limited, computed with, selected or
written; lists of any length and any number of rows become one. Everything else is kept. `contexts` defines which
literals are dropped where.

In two cases dropped constants are appended again: after a select-list item without AS whose text may be the column's
name (in CREATE and INSERT BY NAME), and after a text that runs dynamic SQL.
"""

from __future__ import annotations

import hashlib

from lineage.sql.scan.facts import dialect_features, word_flags, word_roles
from lineage.sql.scan.fingerprinting.contexts import DROPPED, DROPPED_CONSTANTS, Behind, Region
from lineage.sql.scan.fingerprinting.levels import Level, inner_region, takes_rows
from lineage.sql.scan.fingerprinting.piece_before import ExactPath, PieceBefore
from lineage.sql.scan.fingerprinting.writing import Writing
from lineage.sql.scan.pieces import LITERALS, PieceKind, ascii_lower, pieces

__all__ = ["fingerprint", "normal_form"]

_OPERATORS = {
    **dict.fromkeys(("=", "==", "<=>"), Behind.EQUALS),
    **dict.fromkeys(("<", ">", "<=", ">=", "<>", "!=", "^=", "~", "~*", "!~", "~~"), Behind.COMPARISON),
    **dict.fromkeys(("+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>"), Behind.ARITHMETIC),
    "||": Behind.CONCAT,
    ",": Behind.COMMA,
}
_REGIONS = {
    "projection": Region.PROJECTION,
    "from": Region.SOURCES,
    "source": Region.SOURCES,
    "condition": Region.CONDITION,
    "when": Region.CONDITION,
    "other": Region.OTHER,
    "insert": Region.OTHER,
    "create": Region.OTHER,
    "update": Region.OTHER,
    "by": Region.KEYS,
}
_BEHIND = {
    "projection": Behind.ITEM,
    "condition": Behind.LOGIC,
    "when": Behind.LOGIC,
    "then": Behind.LOGIC,
    "open": Behind.LOGIC,
    "like": Behind.LIKE,
    "similar": Behind.LIKE,
    "between": Behind.LIKE,
    "interval": Behind.INTERVAL,
    "limit": Behind.LIMIT,
}
_CONSTANT_REGIONS = frozenset((Region.ROW, Region.LIST, Region.ROWS))
_VALUES = frozenset((PieceKind.STRING, PieceKind.ORACLE_STRING, PieceKind.DOLLAR_STRING, PieceKind.NUMBER))
_STAYS_IN_ROWS = frozenset(("constant", "row", "type", "interval", "array", "values"))


def fingerprint(sql: str, dialect: str) -> str:
    """Return the fingerprint of a statement: 128 bits of BLAKE2b over its normal form, in hexadecimal."""
    form = normal_form(sql, dialect).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(form, digest_size=16).hexdigest()


def normal_form(sql: str, dialect: str) -> str:
    """Return the normal form, of which a fingerprint is the hash."""
    writer = _Writer(dialect)
    for kind, start, end in pieces(sql, dialect):
        writer.take(kind, sql[start:end])
    writer.finish()
    return writer.out.text()


class _Writer:
    def __init__(self, dialect: str) -> None:
        features = dialect_features(dialect)
        self.out = Writing()
        self._folds = "keeps_case" not in features
        self._alias_equals = "alias_equals" in features
        self._exact_paths = "exact_paths" in features
        self._roles = word_roles()
        self._pure = word_flags("pure")
        self._keywords = (word_flags("reserved") | self._roles.keys()) - word_flags("soft")
        self._levels = [Level()]
        self._ended = False
        self._constants: list[str] = []
        """The constants dropped as values since the start of the text."""
        self._names_by_text = False
        self._runs_sql = False
        self._dynamic = word_flags("dynamic")
        self._before = PieceBefore()

    def finish(self) -> None:
        """Handle the end of the text."""
        for level in self._levels:
            self._end_item(level)
        if self._runs_sql:
            self._bring_back(0)

    def _end_item(self, level: Level) -> None:
        """Handle the end of a select-list item, or of the list."""
        if level.selects:
            if self._names_by_text and not level.named:
                self._bring_back(level.item)
            level.item, level.named = len(self._constants), False

    def _bring_back(self, start: int) -> None:
        if len(self._constants) > start:
            self.out.add("{" + " ".join(self._constants[start:]) + "}")

    def _enter(self, region: Region) -> None:
        """Begin another region of the innermost level."""
        level = self._levels[-1]
        self._end_item(level)
        level.enter(region)
        level.selects = region is Region.PROJECTION and not level.is_case
        level.item, level.named = len(self._constants), False

    def _follow(self, behind: int = Behind.NOTHING, role: str = "", *, pure: bool = False) -> None:
        """Record the kind of the current piece, for the next one."""
        self._before = PieceBefore(behind, role, pure)

    def take(self, kind: PieceKind, text: str) -> None:
        """Handle the next piece of the text."""
        if kind is PieceKind.COMMENT:
            return
        if kind is PieceKind.SEMICOLON:
            for level in self._levels:
                self._end_item(level)
            self._names_by_text = False
            self._ended = self.out.size > 0
            self._levels = [Level()]
            self._follow()
            return
        if self._ended:
            self._ended = False
            self.out.add(";")
        if self._before.role == "pivot" and text != "(":
            self._levels[-1].region = Region.FIXED
        if kind is PieceKind.WORD:
            self._word(text)
        elif kind in LITERALS:
            self._literal(text, is_number=kind is PieceKind.NUMBER, is_value=kind in _VALUES)
        elif kind is PieceKind.OPERATOR:
            self._operator(text)
        else:
            self._as_it_is(text)

    def _as_it_is(self, text: str) -> None:
        in_path = self._before.path is ExactPath.GOES_ON
        self.out.add(text, wordy=True)
        self._follow()
        self._before.path = ExactPath.BEFORE if in_path else ExactPath.NONE

    def _literal(self, text: str, *, is_number: bool = False, is_value: bool = False) -> None:
        if self._before.path is ExactPath.GOES_ON:
            self._as_it_is(text)
            return
        level = self._levels[-1]
        behind = self._before.kind if is_number else self._before.kind | self._before.kind_before_type
        if self._before.role == "values" and takes_rows(level.region):
            level.region = Region.ROWS
            behind = Behind.COMMA
        if not behind & self._dropped(level.region):
            constants = self._dropped_constants(level.region, is_number=is_number) if is_value else 0
            if not behind & constants:
                self.out.add(text, wordy=True)
                self._follow()
                return
            self._constants.append(text)
        elif level.region is Region.PURE:
            self._constants.append(text)
        if self._before.lead >= 0:
            self.out.cut(self._before.lead, wordy=self._before.lead_wordy)
        if level.region in (Region.LIST, Region.ROWS) and self.out.ends_in_comma_after(level.last_dropped):
            self.out.cut(level.last_dropped, wordy=True)
        else:
            self.out.add("?", wordy=True)
        level.last_dropped = self.out.size
        self._follow()
        self._before.limited = bool(behind & Behind.LIMIT)

    def _dropped(self, region: Region) -> int:
        mask = DROPPED[region]
        return mask & ~Behind.EQUALS if self._alias_equals and region is Region.PROJECTION else mask

    def _dropped_constants(self, region: Region, *, is_number: bool) -> int:
        mask = DROPPED_CONSTANTS.get(region, 0)
        # T-SQL: SELECT 'name' = a
        is_alias = self._alias_equals and region is Region.PROJECTION and not is_number
        return mask & ~(Behind.ITEM | Behind.COMMA) if is_alias else mask

    def _word(self, text: str) -> None:
        if self._exact_paths and text.startswith("@"):
            self._before.path = ExactPath.GOES_ON
        if self._before.path is ExactPath.GOES_ON:
            self._as_it_is(text)
            return
        lower = ascii_lower(text)
        role = "" if self._before.dotted else self._roles.get(lower, "")
        folded = lower if self._folds or (not self._before.dotted and lower in self._keywords) else text
        level = self._levels[-1]
        if role == "constant" and level.region in _CONSTANT_REGIONS:
            self._literal(folded, is_number=True)
            return
        if level.region is Region.ROWS and role not in _STAYS_IN_ROWS:
            level.region = Region.OTHER
        previous, starred = self._before.role, self._before.starred
        pure = not self._before.dotted and lower in self._pure
        if lower in self._dynamic:
            self._runs_sql = True
        elif role == "create" or (previous == "by" and lower == "name"):
            self._names_by_text = True
        elif role == "as" and level.region is Region.PROJECTION:
            level.named = True
        behind, lead, lead_wordy = self._before.kind, self._before.lead, self._before.lead_wordy
        if lead < 0:
            lead, lead_wordy = self.out.size, self.out.wordy
        self.out.add(folded, wordy=True)
        self._follow(self._meaning(role, previous, starred=starred), role, pure=pure)
        self._before.starred = starred and role in ("open", "similar")
        if role == "type":
            self._before.kind_before_type, self._before.lead, self._before.lead_wordy = behind, lead, lead_wordy

    def _meaning(self, role: str, previous: str, *, starred: bool) -> int:
        """Enter the region that a word begins; return the word's kind for a literal after it."""
        level = self._levels[-1]
        if role == "case":
            if previous != "end":
                self._levels.append(Level(level.region, base=level.region, is_case=True))
            return Behind.NOTHING
        if role == "end":
            if level.is_case:
                self._levels.pop()
            return Behind.NOTHING
        if role == "and":
            between, level.between = level.between, False
            return Behind.LIKE if between else Behind.LOGIC
        if role == "from" and previous == "distinct":
            return Behind.COMPARISON
        if role == "on":
            if level.region is not Region.SOURCES:
                return Behind.NOTHING
            self._enter(Region.CONDITION)
            return Behind.LOGIC
        if role == "by" and previous == "connect":
            self._enter(Region.CONDITION)
            return Behind.LOGIC
        self._change_region(role, previous, level)
        return _kind_behind(role, previous, starred=starred)

    def _change_region(self, role: str, previous: str, level: Level) -> None:
        """Enter the region that a word begins, and record what it says of those that follow."""
        if role == "then":
            self._enter(level.base if level.is_case else Region.OTHER)
        elif role == "set":
            self._enter(Region.ASSIGNMENT if level.updates or level.inserts else Region.OTHER)
            level.updates = level.inserts = False
        elif role == "update" and previous == "key":  # ON DUPLICATE KEY UPDATE
            self._enter(Region.ASSIGNMENT)
        elif role in _REGIONS:
            self._enter(_REGIONS[role])
            level.updates = level.updates or role == "update"
            level.inserts = role == "insert" or (level.inserts and role == "source")
        elif role == "values":
            level.inserts = False
        elif role == "for":
            level.loops = True
        elif role == "between":
            level.between = True

    def _operator(self, text: str) -> None:
        if text in ("(", "[", "{"):
            before = self._before
            region, is_row = inner_region(self._levels[-1], before.kind, before.role, text, pure=before.is_pure)
            self._levels.append(Level(region, is_row=is_row, start=self.out.size))
            self.out.add(text)
            self._follow(Behind.PARENTHESIS)
        elif text in (")", "]", "}"):
            self._close(text)
        elif text in ("-", "+") and self._before.kind:
            if self._before.lead < 0:
                self._before.lead, self._before.lead_wordy = self.out.size, self.out.wordy
            self.out.add(text)
        else:
            limited, path = self._before.limited and text == ",", self._before.path
            if text == "," and self._levels[-1].selects:
                self._end_item(self._levels[-1])
            self.out.add(text)
            self._follow(Behind.LIMIT if limited else _OPERATORS.get(text, Behind.NOTHING))
            self._before.dotted, self._before.starred = text == ".", text == "*"
            if self._exact_paths and (
                text == ":" or text[0] == "@" or (path is not ExactPath.NONE and text in (".", "/", "-"))
            ):
                self._before.path = ExactPath.GOES_ON

    def _close(self, text: str) -> None:
        self._end_item(self._levels[-1])
        self.out.add(text)
        self._follow()
        if self._exact_paths and text == "]":  # v:key[0].key
            self._before.path = ExactPath.BEFORE
        while self._levels[-1].is_case:
            self._levels.pop()
        if len(self._levels) == 1:
            return
        closed = self._levels.pop()
        if not closed.is_row:
            return
        parent = self._levels[-1]
        first, last = parent.last_row
        if closed.start == last + 1 and self.out.repeats(first, last):
            self.out.cut(last, wordy=False)
        else:
            parent.last_row = (closed.start, self.out.size)


def _kind_behind(role: str, previous: str, *, starred: bool) -> int:
    """Return the kind of a literal after a word, by the word and the one before it."""
    if role == "distinct" and previous == "projection":
        return Behind.ITEM
    if role == "to":
        return Behind.LIKE if previous == "similar" and not starred else Behind.NOTHING
    if role == "top":
        return Behind.LIMIT if previous in ("projection", "distinct") else Behind.NOTHING
    if role == "first":
        return Behind.LIMIT if previous == "fetch" else Behind.NOTHING
    # SELECT * LIKE 'a%' selects columns by name.
    return Behind.NOTHING if starred and role in ("like", "similar") else _BEHIND.get(role, Behind.NOTHING)
