"""Tags of a warehouse on tables and columns: `SET TAG pii = 'email'` (Snowflake), `SET TAGS ('pii' = 'email')`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage.model.policies import PolicyAct, PolicyStatement
from lineage.sql.policies.policy_words import PolicyWords

__all__ = ["tags_set", "tags_unset"]

_CLASS = re.compile(r"[A-Za-z][A-Za-z_-]{0,39}")
"""A value that may be the name of a class; others are not kept, since they could be anything."""


def tags_set(words: PolicyWords, table: str, columns: tuple[str, ...]) -> Iterator[PolicyStatement]:
    """Yield the tags of a list that begins here, in parentheses or not."""
    while (tag := _name(words)) is not None:
        value = words.text() if words.take("=") else None
        shown = value.lower() if value is not None and _CLASS.fullmatch(value) else None
        yield PolicyStatement(PolicyAct.SET_TAG, table, columns, tag, shown)
        if not words.take(",") or words.words[words.at : words.at + 1] == ["COLUMN"]:
            break
    words.take(")")


def tags_unset(words: PolicyWords, table: str, columns: tuple[str, ...]) -> Iterator[PolicyStatement]:
    """Yield the tags that are removed."""
    while (tag := _name(words)) is not None:
        yield PolicyStatement(PolicyAct.UNSET_TAG, table, columns, tag)
        if not words.take(","):
            break
    words.take(")")


def _name(words: PolicyWords) -> str | None:
    """Return the name of a tag: a string in Databricks, the full name of an object in Snowflake."""
    text = words.text()
    return text if text is not None else words.policy()
