"""What SQL says of who may see a column or row: masking policies, row policies, tags of the warehouse, grants.

A statement is about tables, which its job reads; so renames of the table follow it. Values of literals are not here,
but for names of roles that a policy compares with, and names of classes in tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields
from enum import StrEnum
from typing import Any

from lineage.frozen import frozen

__all__ = [
    "PolicyAct",
    "PolicyStatement",
    "keeps_grants",
    "last_name",
    "loses_policies",
    "made_anew",
    "policies_from",
    "policies_text",
]

_REPLACES = re.compile(r"\s*CREATE\s+OR\s+REPLACE\b", re.IGNORECASE)
_CREATES = re.compile(
    r"\s*CREATE\s+(?P<replaces>OR\s+REPLACE\s+)?(?:\w+\s+){0,3}?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"(?P<name>[^\s(]+)",
    re.IGNORECASE,
)
_COPY_GRANTS = re.compile(r"\bCOPY\s+GRANTS\b", re.IGNORECASE)
_KEEP = frozenset(("postgres", "redshift"))
"""Dialects in which CREATE OR REPLACE is known to keep the policies of a view; elsewhere they count as lost."""


class PolicyAct(StrEnum):
    """What a statement does."""

    SET_MASK = "set_mask"
    UNSET_MASK = "unset_mask"
    SET_ROWS = "set_rows"
    """The rows of the table are limited by a policy or filter function."""
    UNSET_ROWS = "unset_rows"
    """Without a policy: all of them."""
    ROWS_ON = "rows_on"
    """PostgreSQL: row security is enabled; without it, policies have no effect."""
    ROWS_OFF = "rows_off"
    DEFINE = "define"
    """A masking policy or function is defined: `roles` see the value, `is_known` says whether that is all."""
    DROP = "drop"
    RENAME = "rename"
    SET_TAG = "set_tag"
    UNSET_TAG = "unset_tag"
    TAG_MASK = "tag_mask"
    """Columns with a tag are masked by a policy."""
    TAG_UNMASK = "tag_unmask"
    GRANT = "grant"
    """`roles` may read the table or the columns."""
    REVOKE = "revoke"
    GRANT_UNMASK = "grant_unmask"
    REVOKE_UNMASK = "revoke_unmask"
    GRANT_ROLE = "grant_role"
    """`roles` are members of the role `policy` of the namespace `other`."""
    REVOKE_ROLE = "revoke_role"


@frozen
class PolicyStatement:
    """One effect of a statement: on the columns of the job's tables, or on all of a table where there are none.

    `policy` is the full name of the policy, function or tag; `other` its new name, a tag's value or the policy of a
    tag. `table` is the full name of the table until it is stored: then the job knows it. `order` is its place in its
    file.
    """

    act: PolicyAct
    table: str | None = None
    columns: tuple[str, ...] = ()
    policy: str | None = None
    other: str | None = None
    roles: tuple[str, ...] = ()
    is_known: bool = True
    order: int = 0


def loses_policies(sql: str, dialect: str | None) -> bool:
    """Return whether a statement makes a table or view anew, without the policies that it had.

    >>> loses_policies("CREATE OR REPLACE TABLE t AS SELECT 1", "snowflake")
    True
    """
    return dialect not in _KEEP and _REPLACES.match(sql) is not None


def made_anew(sql: str, dialect: str | None) -> str | None:
    """Return the name of the table or view that a statement made without the policies of one before it, in lower case.

    >>> [made_anew(f"CREATE {one} s.T (a int)", "postgres") for one in ("TABLE", "OR REPLACE VIEW")]
    ['t', None]
    """
    found = _CREATES.match(sql)
    if found is None or (found["replaces"] and not loses_policies(sql, dialect)):
        return None
    return last_name(found["name"])


def last_name(name: str) -> str:
    """Return the last part of a table's name in lower case, without quotes."""
    return re.sub(r'[\[\]"`]', "", name).rpartition(".")[2].lower()


def keeps_grants(sql: str) -> bool:
    """Return whether a statement that makes a table anew keeps its grants: Snowflake's COPY GRANTS."""
    return _COPY_GRANTS.search(sql) is not None


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def policies_text(statements: Iterable[PolicyStatement]) -> str:
    """Return statements in order as they are stored.

    >>> policies_text([PolicyStatement(PolicyAct.SET_MASK, "s.t", ("email",), "s.p")])
    '[{"act":"set_mask","columns":["email"],"policy":"s.p"}]'
    """
    return _ENCODER.encode([_to_json(one) for one in statements])


def policies_from(text: str | None) -> tuple[PolicyStatement, ...]:
    """Return the statements that `policies_text` wrote."""
    return tuple(
        PolicyStatement(
            PolicyAct(one["act"]), None, tuple(one.get("columns", ())), one.get("policy"), one.get("other"),
            tuple(one.get("roles", ())), one.get("is_known", True), one.get("order", 0),
        )
        for one in (json.loads(text) if text else ())
    )  # fmt: skip


def _to_json(one: PolicyStatement) -> dict[str, Any]:
    given = ((field.name, getattr(one, field.name), field.default) for field in fields(one) if field.name != "table")
    return {name: value for name, value, default in given if value != default}
