"""Fill in template placeholders so that the text around them parses. No position changes.

A placeholder in the position of a name (after FROM, inside a dotted or longer name) becomes a name, else a literal.
Supported: Jinja's `{{ x }}`, `{% … %}` and `{# … #}` (dbt's `ref` and `source` become the table that they name), `${x}`
(shells, Spark), `##x##` (Stack Exchange Data Explorer), `%(x)s` (Python drivers), `&x` (SQL*Plus), `@x.t` and `@x@y`
in names (SqlRender). `?`, `:x` and `@x` are parsed by sqlglot itself.

A placeholder that may stand for more than a value is reported: lineage that a template adds is not in the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect

__all__ = [
    "THIS",
    "FilledText",
    "Placeholder",
    "PlaceholderRole",
    "fill_placeholders",
    "is_filled_in",
    "name_by_templates",
    "name_this",
    "placeholders_in",
]

_SIGNS = re.compile(r"\{[{%#]|\$\{|##|%\(|&|@\w+[@.]\w|\.@\w")
_PLACEHOLDER = re.compile(
    r"(?P<blank>\{%(?:(?!\{%).)*?%\}|\{#(?:(?!\{#).)*?#\})|(?P<jinja>\{\{(?:(?!\{\{).)*?\}\})"
    r"|(?P<dollar>\$\{[^{}\n]*\})"
    r"|(?P<hash>\#\#\w+(?::\w+)?(?:\?[^#\n]*)?\#\#)|(?P<percent>%\(\w+\)s)|(?P<amp>&&?\w+\.?)"
    r"|(?P<at>(?<![\w@])@\w+(?:(?:@\w+)+|(?=\.[\w@]))|(?<=\.)@\w+)",
    re.DOTALL,
)
_REF = re.compile(r"\{\{\s*-?\s*(?:ref|source)\s*\(([^)]*)\)")
_QUOTED = re.compile(r"['\"]([^'\"]+)['\"]")
_BEFORE_A_NAME = re.compile(
    r"(?:\b(?:from|join|into|table|update|view|using|schema|database|use|exists|overwrite|as)\s+|[\w.`\"])\Z",
    re.IGNORECASE,
)
_BEFORE_A_TABLE = re.compile(r"(?:\b(?:from|join|into|table|update|view|using|merge|exists)\s+|\.)\Z", re.IGNORECASE)
_BRANCH = re.compile(r"\{%-?\s*(elif|else|for|macro|call)\b")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_VALUE = re.compile(
    r"\{\{-?\s*(?:[\w.]+|(?:var|env_var)\s*\([^()]*\))\s*-?\}\}|\$\{[^{}]*\}|##.*##|&&?\w+\.?", re.DOTALL
)
"""A variable, not a macro: a macro may expand to anything."""
_BEFORE_A_VALUE = re.compile(
    r"(?:[=<>]|\b(?:limit|offset|top|between|like|interval|in|fetch|next|first|between\s+\S+\s+and))\s*\(?\s*\Z",
    re.IGNORECASE,
)
"""What a value follows; in other positions, a variable may hold an expression or a list of columns."""
_BEFORE_A_QUERY = re.compile(
    r"\b(?:(?:as|from|join|exists)\s*\(|union(?:\s+all)?|intersect|except)\s*\Z", re.IGNORECASE
)
_BEFORE_A_SET_OPERATION = re.compile(r"\s*(?:union|intersect|except)\b", re.IGNORECASE)
_END_OF_LINE = re.compile(r"[ \t]*(?:--|\n|;|\Z)")
_NEEDS_MORE = (
    "select distinct all by on where and or not having qualify set values then else when case in using between like is"
)
_BEHIND_A_CLAUSE = re.compile(
    r"[\w)\]`\"]" + "".join(rf"(?<!\b{word})" for word in _NEEDS_MORE.split()) + r"[ \t]*\n\s*\Z", re.IGNORECASE
)
"""Where a macro call that has a line of its own adds to what is complete without it."""
_SHORTEST = len("${x}")
THIS = "{{ this }}"
"""The table that a model of dbt makes."""
_HINT = "compile the templates (`dbt compile`), and read the compiled SQL"


class PlaceholderRole(Enum):
    """What a placeholder stands for in a statement."""

    VALUE = auto()
    CALL = auto()
    """A macro or a variable in the place of an expression: it may be anything, also a list of columns."""
    NAME = auto()
    """A part of a name, or a whole query, which has a name."""
    CLAUSE = auto()
    """A macro call behind what is complete without it."""


class Placeholder(NamedTuple):
    """A placeholder as it is written, with single spaces, and what it stands for."""

    text: str
    role: PlaceholderRole


class FilledText(NamedTuple):
    """A text without placeholders, and what is not known because of them, each at the position of its placeholder.

    `names` are the expressions of Jinja that are parts of names, by what stands for them in the text. `placeholders`
    are those that a statement is made of, by their positions.
    """

    text: str
    doubts: tuple[Diagnostic, ...] = ()
    names: Mapping[str, str] = MappingProxyType({})
    placeholders: Mapping[int, Placeholder] = MappingProxyType({})


def fill_placeholders(text: str, dialect: Dialect) -> FilledText:
    """Return the text with each placeholder replaced by a name, a literal or spaces of the same length.

    >>> fill_placeholders("SELECT a FROM t WHERE b = ${day}", "spark").text
    'SELECT a FROM t WHERE b = 000000'
    >>> fill_placeholders("SELECT a FROM {{ ref('orders') }} LIMIT {{ n }}", "postgres").text
    'SELECT a FROM orders              LIMIT 0000000'
    >>> [str(doubt.message) for doubt in fill_placeholders("SELECT {{ f('x') }} FROM ${env}_db.t", "spark").doubts]
    ['`f(…)` is not expanded: it may name columns or tables', 'a part of this name is the placeholder `env`']
    """
    if not any(map(text.__contains__, "{&#%@")) or not _SIGNS.search(text):  # the pattern takes ten times as long
        return FilledText(text)

    return _Filling(text, dialect).result()


class _Filling:
    """Fills in the placeholders of one text, from its start to its end."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._doubts: list[Diagnostic] = []
        self._names: dict[str, str] = {}
        self._placeholders: dict[int, Placeholder] = {}
        self._seen = 0
        self._quotes = 0
        """How many quotes there are in the last line, up to where the text is `seen`."""

    def result(self) -> FilledText:
        filled = _PLACEHOLDER.sub(self._fill, self._text)
        return FilledText(filled, tuple(self._doubts), self._names, self._placeholders)

    def _fill(self, match: re.Match[str]) -> str:
        text, kind = match.group(), match.lastgroup
        in_string = self._is_in_string(match.start())
        if kind == "blank":
            if branch := _BRANCH.match(text):
                tag = branch.group(1)
                self._doubt(match, f"the template's `{tag}` is not executed: its body is read once, as it is written")
            return _spaces(text)
        if not self._is_placeholder(match):
            return text
        if kind == "jinja" and (reference := _REF.match(text)):
            return _pad(".".join(_QUOTED.findall(reference.group(1))), text)
        if in_string:
            return re.sub(r"['\"]", "_", text)
        name = _NAME.search(text)
        is_call = kind == "jinja" and "(" in text
        if is_call and name is not None and name.group() == "config":
            return _spaces(text)
        shown = name.group() + ("(…)" if "(" in text else "") if name is not None else "…"
        before, after = self._before(match), self._text[match.end() : match.end() + 1]
        if _BEFORE_A_NAME.search(before) or re.match(r"[\w.]", after):
            return self._part_of_name(match, shown)
        return (self._call(match, before, shown) if is_call else None) or self._value(match, before, shown)

    def _before(self, match: re.Match[str]) -> str:
        return self._text[max(0, match.start() - 24) : match.start()]

    def _is_in_string(self, start: int) -> bool:
        line = self._text.rfind("\n", self._seen, start) + 1
        self._quotes = (0 if line else self._quotes) + self._text.count("'", line or self._seen, start)
        self._seen = start
        return self._quotes % 2 == 1

    def _is_placeholder(self, match: re.Match[str]) -> bool:
        """Return whether the dialect knows a sign; elsewhere `&x` is an operator, and `@x` a variable."""
        if match.lastgroup == "amp":
            return self._dialect.has_ampersand_variables
        if match.lastgroup == "at":
            after = self._text[match.end() : match.end() + 80]
            return self._dialect.needs_no_semicolon and _is_in_name(self._before(match), after)
        return True

    def _part_of_name(self, match: re.Match[str], shown: str) -> str:
        written = re.sub(r"\W", "_", match.group())
        self._note(match, PlaceholderRole.NAME)
        if match.lastgroup == "jinja":
            self._names[written] = " ".join(match.group().split())
        if self._names.get(written) != THIS:
            self._doubt(match, f"a part of this name is the placeholder `{shown}`")
        return written

    def _call(self, match: re.Match[str], before: str, shown: str) -> str | None:
        """Return what stands for a macro call in the place of a query or clause; None in the place of a value."""
        text, mark = match.group(), f"__tpl{len(self._names)}"
        query = _written_over(text, ("select", "*", "from", mark)) if _stands_for_a_query(self._text, match) else None
        if query is not None:
            self._names[mark] = " ".join(text.split())
            return self._unexpanded(match, PlaceholderRole.NAME, query, shown)
        if _adds_a_clause(before, self._text, match.end()):
            return self._unexpanded(match, PlaceholderRole.CLAUSE, _spaces(text), shown)
        return None

    def _value(self, match: re.Match[str], before: str, shown: str) -> str:
        found = match.group()
        written = _pad("0" * len(found.split("\n", 1)[0]), found)
        if match.lastgroup == "percent" or (_BEFORE_A_VALUE.search(before) and _VALUE.fullmatch(found)):
            self._note(match, PlaceholderRole.VALUE)
            return written
        return self._unexpanded(match, PlaceholderRole.CALL, written, shown)

    def _unexpanded(self, match: re.Match[str], role: PlaceholderRole, written: str, shown: str) -> str:
        self._note(match, role)
        self._doubt(match, f"`{shown}` is not expanded: it may name columns or tables")
        return written

    def _note(self, match: re.Match[str], role: PlaceholderRole) -> None:
        self._placeholders[match.start()] = Placeholder(" ".join(match.group().split()), role)

    def _doubt(self, match: re.Match[str], message: str) -> None:
        if "--" in self._text[self._text.rfind("\n", 0, match.start()) + 1 : match.start()]:
            return
        span = Span.locate(self._text, *match.span())
        self._doubts.append(Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, span, _HINT))


def _adds_a_clause(before: str, text: str, end: int) -> bool:
    """Return whether a macro call adds to what is complete; behind a bracket there is no place for a value."""
    is_alone = _BEHIND_A_CLAUSE.search(before) is not None and _END_OF_LINE.match(text, end) is not None
    return is_alone or before.rstrip(" \t").endswith(")")


def _stands_for_a_query(text: str, match: re.Match[str]) -> bool:
    if text[: match.start()].strip():
        return _BEFORE_A_QUERY.search(text[max(0, match.start() - 24) : match.start()]) is not None
    return _BEFORE_A_SET_OPERATION.match(text, match.end()) is not None


def _written_over(found: str, words: Sequence[str]) -> str | None:
    """Return words over a placeholder of any number of lines, which keep their places; None if it is too short."""
    lines = _spaces(found).split("\n")
    waiting = list(words)
    for number, line in enumerate(lines):
        text = ""
        while waiting and len(text) + len(waiting[0]) <= len(line):
            text += f"{waiting.pop(0)} "
        lines[number] = text[: len(line)].ljust(len(line))
    return None if waiting else "\n".join(lines)


def name_by_templates(tree: exp.Expr, names: Mapping[str, str]) -> None:
    """Name what templates name after their expressions (`amount_{{ suffix }}`); the table `{{ this }}` is the target.

    `names` are the expressions by what stands for them in the text.
    """
    for identifier in tree.find_all(exp.Identifier):
        text = str(identifier.this)
        for written, expression in names.items():
            text = text.replace(written, expression)
        if text != identifier.this:
            identifier.set("this", text)
            identifier.set("quoted", True)
    if THIS in names.values() and isinstance(tree, exp.DDL | exp.DML):
        target = tree.this.find(exp.Table)
        if target is not None:
            name_this(tree, target)


def name_this(tree: exp.Expr, target: exp.Table) -> None:
    """Replace the table `{{ this }}` by the target."""
    for table in list(tree.find_all(exp.Table)):
        if table.name == THIS and table is not target:
            for part in ("this", "db", "catalog"):
                table.set(part, target.args[part].copy() if target.args.get(part) else None)


def _is_in_name(before: str, after: str) -> bool:
    """Return whether `@x` is a part of a name; elsewhere it is a variable, which may have methods."""
    names_table = _BEFORE_A_TABLE.search(before) is not None and not after.lower().startswith(".nodes")
    return names_table or re.match(r"\.[\w@]+\.\w+\b(?!\s*\()", after) is not None


def is_filled_in(number: str) -> bool:
    """Return whether a number is what a placeholder was replaced by.

    >>> is_filled_in("0000000"), is_filled_in("0")
    (True, False)
    """
    return len(number) >= _SHORTEST and not number.strip("0")


def placeholders_in(text: str) -> list[str]:
    """Return the placeholders of a text as they are written, in order, without comments of templates.

    >>> placeholders_in("SELECT {{ f('x') }} {# all #} FROM ${env}_db.t")
    ["{{ f('x') }}", '${env}']
    """
    found = (match.group() for match in _PLACEHOLDER.finditer(text)) if _SIGNS.search(text) else ()
    return [" ".join(one.split()) for one in found if not one.startswith("{#")]


def _spaces(found: str) -> str:
    return re.sub(r"[^\n]", " ", found)


def _pad(name: str, found: str) -> str:
    """Return the name, padded with spaces to the placeholder's length."""
    return name + _spaces(found[len(name) :]) if len(name) <= len(found) else re.sub(r"\W", "_", found)
