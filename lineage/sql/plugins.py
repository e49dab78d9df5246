"""Plug-in rules for functions, table functions and statements that this package does not support.

A package offers them in the entry-point group `lineage.rules`; each entry point is a function that takes `Rules`:

    # pyproject.toml
    [project.entry-points."lineage.rules"]
    vault = "vault_sql.lineage:register"

    # vault_sql/lineage.py
    def register(rules):
        rules.masking("vault_tokenize")                             # hides its arguments
        rules.aggregate("approx_top")                               # aggregates them
        rules.table_function("vault_scan", ["id", "payload"])       # these columns, each from all arguments
        rules.command("VAULTCOPY", r"FROM (?P<upstream>\\S+) TO (?P<destination>\\S+)")

What these methods cannot express, a rule does on sqlglot's syntax tree with `expression_rule`, `relation_rule` (of
`lineage.sql.resolve.resolver`) and `statement_rule` (of `lineage.sql.resolve.statements`), which `register` may also
call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points

__all__ = ["GROUP", "Rules", "installed_rules"]

GROUP = "lineage.rules"


class Rules:
    """Functions and statements that plug-ins add to the built-in ones. Names are compared without case."""

    def __init__(self) -> None:
        self.masking_names: set[str] = set()
        self.aggregate_names: set[str] = set()
        self.table_functions: dict[str, tuple[str, ...]] = {}
        self.commands: dict[str, re.Pattern[str]] = {}

    def masking(self, *names: str) -> None:
        """Register functions that hide the values of their arguments."""
        self.masking_names.update(name.lower() for name in names)

    def aggregate(self, *names: str) -> None:
        """Register aggregate functions."""
        self.aggregate_names.update(name.lower() for name in names)

    def table_function(self, name: str, columns: Sequence[str]) -> None:
        """Register a table function and the columns that it returns."""
        self.table_functions[name.lower()] = tuple(columns)

    def command(self, keyword: str, pattern: str) -> None:
        """Register a statement by its keyword, and how to find the tables that it reads and writes.

        `pattern` is searched in the statement's text; its groups `upstream` and `destination` are table names.

        Raises:
            ValueError: the pattern is not a valid regular expression, or names neither group.
        """
        try:
            compiled = re.compile(pattern, re.IGNORECASE | re.DOTALL)
        except re.error as error:
            raise ValueError(f"the pattern of {keyword} is not a valid regular expression: {error}") from error
        if not {"upstream", "destination"} & set(compiled.groupindex):
            raise ValueError(f"the pattern of {keyword} has neither a group `upstream` nor `destination`")
        self.commands[keyword.upper()] = compiled


@cache
def installed_rules() -> Rules:
    """Return the rules of all installed packages, registered once."""
    rules = Rules()
    for point in sorted(entry_points(group=GROUP), key=lambda found: found.name):
        register: Callable[[Rules], None] = point.load()
        register(rules)
    return rules
