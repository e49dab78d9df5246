"""The key of a job's file: its project, its path in the project, and the environment that completes its names.

The key does not depend on how a command names the file, nor on the machine. Two projects never share a key, and neither
do the same files in two environments (development and production, or two dialects).
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from lineage.frozen import frozen
from lineage.model.names import Naming

__all__ = ["SQL_SUFFIXES", "Environment", "FileKey", "beginning"]

SQL_SUFFIXES = frozenset((".sql", ".ddl", ".hql", ".bq"))
"""Suffixes of the files that are ingested from a folder; a file given by name may have any suffix."""

_IN_PATH = re.compile(r"[%:@>]|[\x00-\x1f]")
_IN_ENVIRONMENT = re.compile(r"[%,>]|[\x00-\x1f]")


@frozen
class Environment:
    """The defaults that complete the names in a file. An empty namespace means the dialect's name."""

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
        """The namespace of datasets."""
        return self.namespace or self.dialect

    def __str__(self) -> str:
        """Return the environment's text in a file key.

        >>> str(Environment("postgres")), str(Environment("snowflake", default_schema="core"))
        ('postgres', 'snowflake,,,core')
        """
        return _environment_text(self.dialect, self.namespace, self.default_database, self.default_schema)


@frozen
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
        """Return the key's text: `PROJECT:PATH@DIALECT,NAMESPACE,DATABASE,SCHEMA`, without trailing empty parts."""
        return f"{beginning(self.project, self.path)}@{self.environment}"

    @classmethod
    def parse(cls, text: str) -> FileKey:
        """Return the key parsed from its text."""
        project, _, rest = text.partition(":")
        path, _, environment = rest.partition("@")
        return cls(unquote(project), unquote(path), _environment(environment))


def beginning(project: str, path: str = "") -> str:
    """Return the common prefix of the keys of a project's files, or of its files whose path begins with `path`.

    >>> beginning("C:/shop", "models/")
    'C%3A/shop:models/'
    """
    return f"{_escape(_IN_PATH, project)}:{_escape(_IN_PATH, path)}"


# All files of an ingest have the same environment.


@lru_cache(maxsize=64)
def _environment_text(*parts: str) -> str:
    return ",".join(_escape(_IN_ENVIRONMENT, part) for part in parts).rstrip(",")


@lru_cache(maxsize=64)
def _environment(text: str) -> Environment:
    return Environment(*map(unquote, text.split(",")))


def _escape(what: re.Pattern[str], text: str) -> str:
    return what.sub(lambda found: f"%{ord(found.group()):02X}", text) if what.search(text) else text
