"""Which file a job stands in: its project, its path in that, and the environment that its names were read in.

A file is itself however a command names it and on whichever machine. Two projects never share a key, and neither do
the same files read into two environments (development and production, or two dialects).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from lineage.model.names import Naming

__all__ = ["BEFORE_PROJECTS", "SQL_SUFFIXES", "Environment", "FileKey", "beginning"]

BEFORE_PROJECTS = "(before projects)"
"""The project of files that were ingested when jobs had none."""

SQL_SUFFIXES = frozenset((".sql", ".ddl", ".hql", ".bq"))
"""Endings of the files that are taken from a folder; a file that is named itself may end as it likes."""

_IN_PATH = re.compile(r"[%:@>]|[\x00-\x1f]")
_IN_ENVIRONMENT = re.compile(r"[%,>]|[\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class Environment:
    """What the names in a file were completed with. An empty namespace is that of the dialect's name."""

    dialect: str
    namespace: str = ""
    default_database: str = ""
    default_schema: str = ""

    @classmethod
    def of(cls, naming: Naming) -> Environment:
        """Return the environment of a naming."""
        namespace = naming.dataset_namespace
        return cls(
            naming.dialect.name,
            "" if namespace == naming.dialect.name else namespace,
            naming.default_database or "",
            naming.default_schema or "",
        )

    @property
    def dataset_namespace(self) -> str:
        """The namespace that datasets get."""
        return self.namespace or self.dialect

    def __str__(self) -> str:
        """Return it as keys hold it.

        >>> str(Environment("postgres")), str(Environment("snowflake", default_schema="core"))
        ('postgres', 'snowflake,,,core')
        """
        parts = (self.dialect, self.namespace, self.default_database, self.default_schema)
        return ",".join(_escaped(_IN_ENVIRONMENT, part) for part in parts).rstrip(",")


@dataclass(frozen=True, slots=True)
class FileKey:
    """A file of a project, in an environment. A file without a project has its absolute path and an empty project.

    >>> key = FileKey("github.com/acme/shop", "models/orders.sql", Environment("postgres"))
    >>> str(key)
    'github.com/acme/shop:models/orders.sql@postgres'
    >>> FileKey.parse(str(key)) == key
    True
    """

    project: str
    path: str
    environment: Environment

    def __str__(self) -> str:
        """Return the key's text: `PROJECT:PATH@DIALECT,NAMESPACE,DATABASE,SCHEMA`, without what is empty at its end."""
        return f"{beginning(self.project, self.path)}@{self.environment}"

    @classmethod
    def parse(cls, text: str) -> FileKey:
        """Return the key that has this text."""
        project, _, rest = text.partition(":")
        path, _, environment = rest.partition("@")
        return cls(unquote(project), unquote(path), Environment(*map(unquote, environment.split(","))))


def beginning(project: str, path: str = "") -> str:
    """Return what the keys of a project's files begin with, or those of the files whose path begins so.

    >>> beginning("C:/shop", "models/")
    'C%3A/shop:models/'
    """
    return f"{_escaped(_IN_PATH, project)}:{_escaped(_IN_PATH, path)}"


def _escaped(what: re.Pattern[str], text: str) -> str:
    return what.sub(lambda found: f"%{ord(found.group()):02X}", text)
