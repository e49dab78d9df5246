"""Templates in SQL (Jinja, Liquid): what cannot be evaluated is replaced, and reported."""

from __future__ import annotations

import re
from collections.abc import Callable

from lineage.model.diagnostics import Diagnostic, Severity
from lineage.model.dialects import dialect_named
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.trees import column_names, take_apart
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.templates.tags_in_sql import TagPlace, replace_tags
from lineage_ingest.bi.templates.template_branches import branch_texts, has_alternatives
from lineage_ingest.bi.templates.written_sql import LITERAL

__all__ = [
    "TEMPLATED",
    "choice_of",
    "columns_read",
    "is_in_name",
    "parses",
    "template_texts",
    "union_of",
    "without_templates",
]

TEMPLATED = "template_value"
"""Stands for a part of a name that a template decides: which table or column that is is not known."""

_TAG = re.compile(
    r"\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}|\{%.*?%\}|(?P<value>\{\{.*?\}\})|\{#.*?#\}", re.DOTALL
)
_CONDITION = re.compile(r"\{%-?\s*(?:if|unless|case)\b")
_LOOP = re.compile(r"\{%-?\s*for\b")
_OF_NAME = re.compile(r"[\w.\"`$]")


def without_templates(sql: str, language: str, dialect: str = "ansi") -> tuple[str, list[Diagnostic]]:
    """Return SQL in which a value of a template is a literal and all branches are kept, with what is in doubt.

    A value that is (a part of) a name becomes `template_value`.

    >>> without_templates("select a from t where d > '{{ from }}'", "Jinja")[0]
    "select a from t where d > '?'"
    >>> without_templates("select a -- don't\\n, {{ b }} from t", "Jinja")[0]
    "select a -- don't\\n, '?' from t"
    >>> without_templates("select a {% comment %}, b{% endcomment %} from t where {{ f('x') }} = 'y'", "Liquid")[0]
    "select a   from t where '?' = 'y'"
    >>> without_templates('select t.{{ a }} from raw_{{ b }}."{{ c }}" t', "Jinja")[0]
    'select t.template_value from raw_template_value."template_value" t'
    """
    problems: list[Diagnostic] = []
    if _LOOP.search(sql) or has_alternatives(sql):
        message = f"{language}: all branches of a condition or loop are read, one after the other"
        problems.append(not_read(message, "the SQL that is run may have only one of them"))
    elif _CONDITION.search(sql):
        message = f"{language}: what a condition ({{% if … %}}) adds is read as if the condition held"
        problems.append(not_read(message, severity=Severity.WARNING))
    if "{{" in sql and "}}" in sql:
        message = f"{language}: a value of a template ({{{{…}}}}) is not known: a literal is assumed"
        problems.append(not_read(message, severity=Severity.WARNING))
    elif "{%" in sql and not problems:
        problems.append(not_read(f"{language}: a tag of a template is not read", severity=Severity.WARNING))

    def write(found: re.Match[str], place: TagPlace) -> str:
        if place is TagPlace.COMMENT or (found["value"] is None and place is TagPlace.CODE):
            return " "
        if place is TagPlace.STRING:
            return "?"
        return TEMPLATED if place is TagPlace.NAME or is_in_name(sql, found.start(), found.end()) else LITERAL

    return replace_tags(sql, dialect, _TAG, write), problems


def is_in_name(sql: str, start: int, end: int) -> bool:
    """Return whether what stands here in SQL is (a part of) a name: it touches one, a dot or a quote of names.

    >>> is_in_name("select x_{{a}}", 9, 14), is_in_name("x = {{a}}", 4, 9), is_in_name("[{{a}}].t", 1, 6)
    (True, False, True)
    """
    before, after = sql[max(start - 1, 0) : start], sql[end : end + 1]
    return bool(_OF_NAME.match(before) or _OF_NAME.match(after) or (before == "[" and after == "]"))


def template_texts(
    sql: str,
    language: str,
    is_valid: Callable[[str], bool],
    prepare: Callable[[str], str] = str,
    dialect: str = "ansi",
) -> tuple[list[str], list[Diagnostic]]:
    """Return the texts that SQL with a template can become, without the template, and what is in doubt.

    That is one text, except where a condition has several branches: then there is one for each that is valid.
    `prepare` replaces tags before values do.

    >>> template_texts("{% if a %}x.b{% else %}x.c{% endif %}", "Liquid", lambda text: True)[0]
    ['x.b', 'x.c']
    """
    if has_alternatives(sql):
        read = [without_templates(prepare(one), language, dialect) for one in branch_texts(sql)]
        texts = dict.fromkeys(text.strip() for text, _ in read)
        valid = [text for text in texts if is_valid(text)]
        if valid:
            message = f"{language}: each branch of a condition is read as if it were run"
            problems = [not_read(message, severity=Severity.WARNING)]
            if len(valid) < len(texts):
                problems.append(not_read(f"{language}: a branch of a condition is not valid SQL, and is not read"))
            problems += [one for _, found in read for one in found]
            return valid, list(dict.fromkeys(problems))
    text, problems = without_templates(prepare(sql), language, dialect)
    return [text], problems


def choice_of(expressions: list[str]) -> str:
    """Return an expression that reads all of these: one of them is its value."""
    return expressions[0] if len(expressions) == 1 else f"template_choice({', '.join(expressions)})"


def union_of(sources: list[str]) -> str:
    """Return what stands in FROM for tables or queries, one of which is read."""
    if len(sources) == 1:
        return sources[0]
    selects = "\nUNION ALL ".join(f"SELECT * FROM {one} AS v{number}" for number, one in enumerate(sources))  # noqa: S608
    return f"(\n{selects}\n)"


def parses(sql: str, dialect: str) -> bool:
    """Return whether SQL is one statement without an error."""
    return columns_read(sql, dialect) is not None


def columns_read(sql: str, dialect: str) -> frozenset[str] | None:
    """Return the names of the columns that one statement reads; None if the SQL is not one without an error.

    >>> columns_read("SELECT a.b + c", "postgres") == {"b", "c"}, columns_read("SELECT a +", "postgres")
    (True, None)
    """
    statements = list(parse_statements(sql, dialect_named(dialect)))
    read = None
    if len(statements) == 1 and statements[0].tree is not None and statements[0].problem is None:
        read = column_names(statements[0].tree)
    for one in statements:
        if one.tree is not None:
            take_apart(one.tree)
    return read
