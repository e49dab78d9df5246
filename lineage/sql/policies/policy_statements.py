"""What a statement says of who may see what: masking and row policies, tags, grants, in the syntax of each product.

Snowflake: https://docs.snowflake.com/en/sql-reference/sql/create-masking-policy, …/alter-table-column
Databricks: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-alter-table
SQL Server: https://learn.microsoft.com/sql/relational-databases/security/dynamic-data-masking
PostgreSQL: https://www.postgresql.org/docs/current/sql-createpolicy.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming
from lineage.model.policies import PolicyAct, PolicyStatement
from lineage.sql.budget import Budget
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_tokens
from lineage.sql.policies.grants import grants, members
from lineage.sql.policies.policy_bodies import UNKNOWN_BODY, PolicyBody, body_of
from lineage.sql.policies.policy_words import PolicyWords
from lineage.sql.policies.tag_lists import tags_set, tags_unset
from lineage.sql.procedural import Fragment, tokens_of
from lineage.sql.resolve.calls.functions import FunctionEffects

__all__ = ["policy_statements"]

_HEADS = frozenset(("CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "DENY"))
_ONLY_REPORTED = frozenset(("SECURITY", "SET", "UNSET", "ADD"))
"""SECURITY LABEL … 'MASKED WITH …' (PostgreSQL Anonymizer), SET TAG ON … (Databricks), ADD SENSITIVITY …."""
_BIGQUERY_GRANT = re.compile(r"(?:grant|revoke)\s+`roles/")
_ABOUT = re.compile(
    r"\b(?:polic(?:y|ies)|mask(?:ed|ing)?|unmask|tags?|row\s+(?:level|filter)|grant|revoke|deny|member|sensitivity)\b"
)
_BEGINNINGS = ("polic", "mask", "tag", "row", "grant", "revoke", "deny", "member", "sensitivity")
"""Looked for first: most definitions have none of them."""
_ASKS_FOR_GROUP = re.compile(r"\b(?:is_account_group_member|is_member)\s*\(", re.I)
_RETURN = re.compile(r"\bRETURN\s+(?!TABLE\b|NULL\b|ROW\b)", re.I)
_OBJECTS = ("TABLE", "VIEW")
_Found = Iterator[PolicyStatement]
TableName = Callable[[Sequence[str]], str]
"""Returns the full name of an existing table from its parts."""


def policy_statements(
    parsed: ParsedStatement, naming: Naming, table_name: TableName, functions: FunctionEffects, budget: Budget
) -> tuple[tuple[PolicyStatement, ...], Diagnostic | None]:
    """Return what a statement says of policies, and what of it is not followed."""
    bodies = _Bodies(parsed.text, naming, functions, budget)
    tokens = parsed.tokens
    head = next(iter(tokens[0].text.split(maxsplit=1)), "").upper() if tokens else ""  # a token may have no text
    if head not in _HEADS and head not in _ONLY_REPORTED:
        return (), None
    if parsed.step is not None and parsed.step.operation == "CREATE_FUNCTION":
        return tuple(_mask_function(parsed, naming, table_name, bodies)), None
    said = parsed.text[parsed.span.start : parsed.span.end].lower()
    if not any(begin in said for begin in _BEGINNINGS) or not _ABOUT.search(said):
        return (), None
    words = PolicyWords(tokens, naming, table_name)
    found = tuple(_read(words, bodies)) if head in _HEADS else ()
    if found or not (_is_ours(words.words) or _BIGQUERY_GRANT.match(said)):
        return found, None
    message = "this statement about policies, tags or grants is not read: the reports on personal data miss it"
    return (), Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message, parsed.span)


@frozen
class _Bodies:
    """Reads the bodies of policies in a text."""

    text: str
    naming: Naming
    functions: FunctionEffects
    budget: Budget

    def read(self, tokens: Sequence[Token], value: str | None) -> PolicyBody:
        """Return who sees the parameter `value`; without one, that of the only column that the body names."""
        tree = parse_tokens(list(tokens), self.text, self.naming.dialect, self.budget)
        shown = tree.expressions[0] if tree is not None and len(tree.expressions) == 1 else tree
        if shown is None:
            return UNKNOWN_BODY
        names = {one.name.lower() for one in shown.find_all(exp.Column)}
        if value is None and len(names) > 1:
            return UNKNOWN_BODY
        return body_of(shown, value if value is not None else next(iter(names), ""), self.functions)


def _is_ours(words: Sequence[str]) -> bool:
    """Return whether a statement without effect in these reports would have one, if it were read."""
    head = words[:6]
    if words[0] in _ONLY_REPORTED:
        return words[:2] in (["SECURITY", "LABEL"], ["ADD", "SENSITIVITY"]) or words[1:3] == ["TAG", "ON"]
    if words[0] == "ALTER" and words[1] in ("SCHEMA", "DATABASE", "CATALOG") and not {"TAG", "TAGS"}.isdisjoint(words):
        return True  # all tables in it inherit the tag, and the mask that a tag has
    if words[0] in ("GRANT", "REVOKE", "DENY"):
        return "UNMASK" in head or ("TABLES" in words and not {"SELECT", "ALL"}.isdisjoint(head))
    return ("POLICY" in words and words[0] != "DROP" and not {"NETWORK", "PASSWORD", "SESSION"}.intersection(head)) or (
        words[0] == "ALTER" and bool({"MASK", "MASKED"}.intersection(words))
    )


def _read(words: PolicyWords, bodies: _Bodies) -> _Found:
    head = words.take_any(*_HEADS)
    if head in ("GRANT", "REVOKE", "DENY"):
        yield from grants(words, head)
        return
    if head == "ALTER" and words.take("ROLE"):
        yield from members(words)
        return
    if head == "CREATE":
        words.take("OR", "REPLACE") or words.take("OR", "ALTER")
    for word in ("SECURE", "TRANSIENT", "TEMPORARY", "TEMP", "MATERIALIZED", "EXTERNAL", "DYNAMIC", "ICEBERG"):
        words.take(word)
    if words.take("ROW", "ACCESS", "POLICY"):
        yield from _row_policy(words, head)
    elif words.take("ALL", "ROW", "ACCESS", "POLICIES"):
        yield from _on_table(words, PolicyAct.UNSET_ROWS, None)
    elif words.take("MASKING", "POLICY"):
        yield from _masking_policy(words, head, bodies)
    elif words.take("POLICY"):
        yield from _policy_of_table(words, head)
    elif words.take("TAG"):
        yield from _tag_policy(words, head)
    elif words.take_any(*_OBJECTS):
        yield from _columns_made(words) if head == "CREATE" else _changes(words) if head == "ALTER" else ()


def _masking_policy(words: PolicyWords, head: str | None, bodies: _Bodies) -> _Found:
    words.take("IF", "NOT", "EXISTS")
    policy = words.policy()
    if head == "DROP":
        yield PolicyStatement(PolicyAct.DROP, policy=policy)
    elif words.take("RENAME", "TO"):
        yield PolicyStatement(PolicyAct.RENAME, policy=policy, other=words.policy())
    elif head == "CREATE" and words.take("AS", "("):
        value = words.name()
        yield _defined(policy, bodies.read(words.tokens[words.at :], value) if words.find("->") else UNKNOWN_BODY)
    elif words.take("SET", "BODY", "->"):  # the CREATE has the name of the parameter
        yield _defined(policy, bodies.read(words.tokens[words.at :], None))


def _defined(policy: str | None, body: PolicyBody) -> PolicyStatement:
    return PolicyStatement(PolicyAct.DEFINE, policy=policy, roles=body.roles, is_known=body.is_known)


def _mask_function(parsed: ParsedStatement, naming: Naming, table_name: TableName, bodies: _Bodies) -> _Found:
    """A function that Databricks may use as a column's mask: its expression follows the header, which is the step."""
    end = parsed.text.find(";", parsed.span.end)
    body = parsed.text[parsed.span.end : end if end >= 0 else len(parsed.text)]
    start = _RETURN.search(body)
    if not naming.dialect.name.startswith(("databricks", "spark")) or start is None or not _ASKS_FOR_GROUP.search(body):
        return
    words = PolicyWords(parsed.tokens, naming, table_name)
    if not words.find("FUNCTION"):
        return
    words.take("IF", "NOT", "EXISTS")
    policy = words.policy()
    words.take("(")
    first = parsed.span.end + start.end()
    last = parsed.span.end + len(body)
    own = Fragment(parsed.text[first:last], tuple(range(first, last)))
    tokens = tokens_of(own, parsed.text, naming.dialect)
    yield _defined(policy, bodies.read(tokens, words.name()))


def _row_policy(words: PolicyWords, head: str | None) -> _Found:
    """A row access policy: Snowflake's has a name of its own, BigQuery's is one of a table."""
    words.take("IF", "NOT", "EXISTS")
    policy = words.policy()
    if words.take("ON"):
        yield from _on_table(words, PolicyAct.UNSET_ROWS if head == "DROP" else PolicyAct.SET_ROWS, policy)
    elif words.take("RENAME", "TO"):
        yield PolicyStatement(PolicyAct.RENAME, policy=policy, other=words.policy())
    elif head in ("CREATE", "DROP"):
        yield PolicyStatement(PolicyAct.DEFINE if head == "CREATE" else PolicyAct.DROP, policy=policy, is_known=False)


def _on_table(words: PolicyWords, act: PolicyAct, policy: str | None) -> _Found:
    words.take("ON")
    if (table := words.table()) is not None:
        yield PolicyStatement(act, table, policy=policy)


def _policy_of_table(words: PolicyWords, head: str | None) -> _Found:
    """PostgreSQL's policies have a name within their table, and apply to `TO` roles."""
    words.take("IF", "EXISTS")
    policy = words.name()
    table = words.table() if words.take("ON") else None
    if table is None or "MATCH" in words.words:  # Databricks' policies are for columns that have a tag
        return
    if head == "DROP":
        yield PolicyStatement(PolicyAct.UNSET_ROWS, table, policy=policy)
    elif words.take("RENAME", "TO"):
        yield PolicyStatement(PolicyAct.RENAME, table, policy=policy, other=words.name())
    elif head == "CREATE":
        words.take("AS", "PERMISSIVE") or words.take("AS", "RESTRICTIVE")
        which = words.take_any("SELECT", "INSERT", "UPDATE", "DELETE", "ALL") if words.take("FOR") else "ALL"
        if which in ("SELECT", "ALL"):
            yield PolicyStatement(PolicyAct.SET_ROWS, table, policy=policy)


def _tag_policy(words: PolicyWords, head: str | None) -> _Found:
    words.take("IF", "NOT", "EXISTS")
    tag = words.policy()
    if head == "DROP":
        yield PolicyStatement(PolicyAct.UNSET_TAG, policy=tag)
    elif head == "CREATE":
        yield PolicyStatement(PolicyAct.DEFINE, policy=tag, is_known=False)
    elif words.take("RENAME", "TO"):
        yield PolicyStatement(PolicyAct.RENAME, policy=tag, other=words.policy())
    act = PolicyAct.TAG_UNMASK if words.take("UNSET") else PolicyAct.TAG_MASK
    while words.find("MASKING", "POLICY"):
        yield PolicyStatement(act, policy=tag, other=words.policy())


def _columns_made(words: PolicyWords) -> _Found:
    """CREATE TABLE and CREATE VIEW: clauses of columns, then those of the table."""
    words.take("IF", "NOT", "EXISTS")
    table = words.table()
    if table is None:
        return
    if words.take("("):
        while not words.is_over and not words.take(")"):
            column = words.column()
            if column is None:
                words.at += 1
                continue
            while not words.is_over and words.words[words.at] not in (",", ")"):
                yield from _clause(words, table, (column,))
            words.take(",")
    while not words.is_over and words.words[words.at] not in ("AS", "SELECT"):
        yield from _clause(words, table, ())


def _clause(words: PolicyWords, table: str, columns: tuple[str, ...]) -> _Found:
    """Yield what the next clause of a column or table says; go behind it, or behind a token."""
    if words.take("WITH", "MASKING", "POLICY") or words.take("MASKING", "POLICY") or words.take("MASK"):
        if columns:
            yield PolicyStatement(PolicyAct.SET_MASK, table, columns, words.policy())
    elif words.take("MASKED", "WITH"):
        yield PolicyStatement(PolicyAct.SET_MASK, table, columns, _mask_of_server(words))
    elif words.take("ROW", "ACCESS", "POLICY") or words.take("ROW", "FILTER"):
        yield PolicyStatement(PolicyAct.SET_ROWS, table, policy=words.policy())
    elif words.take("TAG", "("):
        yield from tags_set(words, table, columns)
    elif not words.is_over and words.words[words.at] == "(":
        words.skip_group()
    else:
        words.at += 1


def _changes(words: PolicyWords) -> _Found:
    """ALTER TABLE and ALTER VIEW, of the table or of columns."""
    table = words.table()
    if table is None:
        return
    columns: tuple[str, ...] = ()
    while not words.is_over:
        # Snowflake's MODIFY takes a list of columns, each with COLUMN or without.
        if words.take("ALTER", "COLUMN") or words.take("MODIFY", "COLUMN") or words.take("COLUMN"):
            columns = (words.column() or "",)
        elif words.take(","):
            is_column = words.words[words.at + 1 : words.at + 2] in (["SET"], ["UNSET"])
            columns = (words.column() or "",) if is_column else ()
        elif words.take("MODIFY") or words.take("ALTER"):
            words.take("(")
            columns = (words.column() or "",)
        elif words.take("ADD", "COLUMN") or words.take("RENAME", "COLUMN") or words.take("DROP", "COLUMN"):
            words.take("IF", "NOT", "EXISTS") or words.take("IF", "EXISTS")
            columns = (words.column() or "",)
        else:
            yield from _change(words, table, columns)


def _change(words: PolicyWords, table: str, columns: tuple[str, ...]) -> _Found:
    if words.take("SET", "MASKING", "POLICY") or words.take("SET", "MASK"):
        yield PolicyStatement(PolicyAct.SET_MASK, table, columns, words.policy())
    elif words.take("UNSET", "MASKING", "POLICY") or words.take("DROP", "MASKED") or words.take("DROP", "MASK"):
        yield PolicyStatement(PolicyAct.UNSET_MASK, table, columns)
    elif words.take("DROP", "ROW", "ACCESS", "POLICY"):
        yield PolicyStatement(PolicyAct.UNSET_ROWS, table, policy=words.policy())
    elif words.take("DROP", "ALL", "ROW", "ACCESS", "POLICIES") or words.take("DROP", "ROW", "FILTER"):
        yield PolicyStatement(PolicyAct.UNSET_ROWS, table)
    elif words.take("SET", "ROW", "FILTER"):
        yield PolicyStatement(PolicyAct.UNSET_ROWS, table)
        yield PolicyStatement(PolicyAct.SET_ROWS, table, policy=words.policy())
    elif words.take("ENABLE", "ROW", "LEVEL", "SECURITY"):
        yield PolicyStatement(PolicyAct.ROWS_ON, table)
    elif words.take("DISABLE", "ROW", "LEVEL", "SECURITY"):
        yield PolicyStatement(PolicyAct.ROWS_OFF, table)
    elif words.take("SET", "TAG") or words.take("SET", "TAGS", "("):
        yield from tags_set(words, table, columns)
    elif words.take("UNSET", "TAG") or words.take("UNSET", "TAGS", "("):
        yield from tags_unset(words, table, columns)
    else:
        yield from _clause(words, table, columns)


def _mask_of_server(words: PolicyWords) -> str:
    """Return the name of the function of SQL Server's `MASKED WITH (FUNCTION = 'partial(1, "x", 0)')`."""
    words.take("(")
    words.take("FUNCTION")
    words.take("=")
    return (words.text() or "").partition("(")[0].strip().lower() + "()"
