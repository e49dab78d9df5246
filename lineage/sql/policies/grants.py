"""GRANT and REVOKE of SELECT on tables and columns, of roles, and of SQL Server's UNMASK."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.model.policies import PolicyAct, PolicyStatement
from lineage.sql.policies.policy_words import PolicyWords

__all__ = ["grants", "members"]

# What ON names, if not a table: rights on these read no rows.
_OTHER_OBJECTS = frozenset(
    ("SCHEMA", "DATABASE", "CATALOG", "FUNCTION", "PROCEDURE", "ROUTINE", "SEQUENCE", "WAREHOUSE", "ROLE", "TYPE",
     "LANGUAGE", "STAGE", "FILE", "INTEGRATION", "ACCOUNT", "ALL", "FUTURE", "TAG", "POLICY", "MASKING", "ROW",
     "FOREIGN", "TABLESPACE", "DOMAIN", "STREAM", "TASK", "PIPE", "SHARE", "EXTERNAL", "METASTORE", "VOLUME", "MODEL",
     "CONNECTION", "PARAMETER", "LARGE", "SERVER", "ENDPOINT", "DEFAULT", "OBJECT")
)  # fmt: skip


def grants(words: PolicyWords, head: str) -> Iterator[PolicyStatement]:
    """Yield who may read what from now on, or no longer; a DENY takes it away."""
    gives = head == "GRANT"
    if words.take("GRANT", "OPTION", "FOR"):  # they keep the right itself
        return
    if "ON" not in words.words[words.at :] and "UNMASK" not in words.words[words.at :]:
        yield from _of_roles(words, gives=gives)
        return
    rights = _rights(words)
    columns = next((rights[one] for one in ("SELECT", "READ") if one in rights), None)
    if "ALL" in rights:
        columns = rights["ALL"]
    unmasks = "UNMASK" in rights
    if columns is None and not unmasks:
        return
    tables: list[str | None] = [None]
    if words.take("ON"):
        named = _tables(words)
        if not named:
            return
        tables = list(named)
        columns = columns or words.columns()  # SQL Server writes columns behind the table
    elif not unmasks:
        return
    if not (words.take("TO") or words.take("FROM")):
        return
    roles = _roles(words)
    for table in tables:
        if unmasks:
            act = PolicyAct.GRANT_UNMASK if gives else PolicyAct.REVOKE_UNMASK
            place = words.naming.dataset_namespace if table is None else None
            yield PolicyStatement(act, table, columns or (), place, roles=roles)
        elif table is not None:
            yield PolicyStatement(PolicyAct.GRANT if gives else PolicyAct.REVOKE, table, columns or (), roles=roles)


def members(words: PolicyWords) -> Iterator[PolicyStatement]:
    """Yield who has a role from now on, or no longer: SQL Server's `ALTER ROLE r ADD MEMBER u`."""
    role = words.name()
    action = words.take_any("ADD", "DROP")
    member = words.name() if words.take("MEMBER") else None
    if role is not None and member is not None:
        yield _of_role(words, role, (member,), gives=action == "ADD")


def _of_roles(words: PolicyWords, *, gives: bool) -> Iterator[PolicyStatement]:
    """Yield who has roles: `GRANT a, b TO c`, `GRANT ROLE a TO USER c`; rights of the system are no roles."""
    words.take("ADMIN", "OPTION", "FOR")
    words.take("DATABASE")
    words.take("ROLE")
    named = []
    while (role := words.name()) is not None:
        named.append(role)
        if not words.take(","):
            break
    if not (words.take("TO") or words.take("FROM")):  # `CREATE SESSION`: several words
        return
    found = _roles(words)
    for role in named if found else ():
        yield _of_role(words, role, found, gives=gives)


def _of_role(words: PolicyWords, role: str, found: tuple[str, ...], *, gives: bool) -> PolicyStatement:
    act = PolicyAct.GRANT_ROLE if gives else PolicyAct.REVOKE_ROLE
    return PolicyStatement(act, policy=role, other=words.naming.dataset_namespace, roles=found)


def _rights(words: PolicyWords) -> dict[str, tuple[str, ...]]:
    """Return the rights before ON or TO, each with its columns."""
    rights: dict[str, tuple[str, ...]] = {}
    while not words.is_over and words.words[words.at] not in ("ON", "TO", "FROM"):
        word = words.words[words.at]
        words.at += 1
        if words.at < len(words.words) and words.words[words.at] == "(":
            rights[word] = words.columns()
        elif word != ",":
            rights[word] = ()
    return rights


def _tables(words: PolicyWords) -> list[str]:
    words.take("TABLE") or words.take("VIEW") or words.take("OBJECT", ":", ":") or words.take("OBJECT", "::")
    after = words.words[words.at + 1] if words.at + 1 < len(words.words) else ""
    if not words.is_over and words.words[words.at] in _OTHER_OBJECTS and after not in (".", "TO", "FROM", ","):
        return []
    found = []
    while (table := words.table()) is not None:
        found.append(table)
        if not words.take(","):
            break
    return found


def _roles(words: PolicyWords) -> tuple[str, ...]:
    found = []
    while not words.is_over:
        words.take("ROLE") or words.take("GROUP") or words.take("USER") or words.take("DATABASE", "ROLE")
        role = words.name()
        if role is None:
            break
        found.append(role)
        if not words.take(","):
            break
    return tuple(found)
