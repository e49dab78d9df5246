"""Rules that recognise personal data by the name and type of a column: a YAML file, and a default set of classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lineage.governance.tags.value_checks import CHECK_NAME
from lineage.governance.yaml_files import GovernanceFileError, read_yaml
from lineage.store.values import StoredColumn, StoredTag

__all__ = ["ClassRule", "ClassRules", "column_words", "default_rules", "matching_tags", "read_rules"]

_CLASS = re.compile(r"[a-z][a-z0-9_.-]{0,99}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_COMMENT = re.compile(r"\bpii\s*[:=]\s*([a-z_][\w.-]*(?:\s*,\s*[a-z_][\w.-]*)*)", re.IGNORECASE)
_NO_WORD = re.compile(r"[^a-z0-9]+")


class ClassRule(BaseModel):
    """How columns of a class are recognised.

    `names` are regular expressions for whole words of the name (`homeEmail` and `HOME_EMAIL` are `home_email`), `never`
    those of names that are something else. If `types` are given and the type of the column is known, one of them has to
    match its beginning. `values` are checks of sample values (`phone:DE`), of which one has to pass. `on_conflict` says
    what counts where a column has another class, too: both; the one that is more sure (`strongest`); or the one that an
    earlier source states (`keep`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = ""
    names: tuple[str, ...] = Field(min_length=1)
    never: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    confidence: float = Field(default=0.8, gt=0, le=1)
    on_conflict: Literal["both", "strongest", "keep"] = "both"

    @field_validator("names", "never", "types")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for one in patterns:
            try:
                re.compile(one)
            except re.error as error:
                raise ValueError(f"{one!r} is no regular expression: {error}") from error
        return patterns

    @field_validator("values")
    @classmethod
    def _is_check(cls, checks: tuple[str, ...]) -> tuple[str, ...]:
        for one in checks:
            if not CHECK_NAME.fullmatch(one):
                raise ValueError(
                    f"{one!r} is no check of values: email, ip, card, phone:DE, stdnum:iban, presidio:US_SSN"
                )
        return checks

    def match(self, words: str, data_type: str | None) -> str | None:
        """Return the pattern that recognises a name; None if none does, or the type is another."""
        if any(_has_words(one, words) for one in self.never):
            return None
        if data_type and self.types and not any(re.match(one, data_type, re.IGNORECASE) for one in self.types):
            return None
        return next((one for one in self.names if _has_words(one, words)), None)


class ClassRules(BaseModel):
    """A file of rules: classes by name. With `extends: default`, the default classes stay, but those redefined."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extends: str | None = Field(default=None, pattern="^default$")
    classes: dict[str, ClassRule] = Field(min_length=1)

    @field_validator("classes")
    @classmethod
    def _named(cls, classes: dict[str, ClassRule]) -> dict[str, ClassRule]:
        for name in classes:
            if not _CLASS.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a class: lower-case letters, digits, '_', '-' and '.'")
        return classes


def column_words(name: str) -> str:
    """Return a name as words in lower case, with `_` between them.

    >>> column_words("homeEMail2"), column_words("Customer-Phone No.")
    ('home_email2', 'customer_phone_no')
    """
    spaced = _CAMEL.sub("_", name.replace("EMail", "Email").replace("eMail", "email"))
    return _NO_WORD.sub("_", spaced.lower()).strip("_")


def read_rules(path: Path | None) -> ClassRules:
    """Return the rules of a file; without one, the default rules.

    Raises:
        GovernanceFileError: the file cannot be read, or is no file of rules.
    """
    if path is None:
        return default_rules()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GovernanceFileError(str(path), 1, 1, f"cannot be read: {error}") from error
    rules = read_yaml(path, text, ClassRules)
    return rules if rules.extends is None else ClassRules(classes=default_rules().classes | rules.classes)


@cache
def default_rules() -> ClassRules:
    """Return the default set of classes."""
    text = files("lineage.governance.tags").joinpath("default_rules.yaml").read_text(encoding="utf-8")
    return read_yaml("default_rules.yaml", text, ClassRules)


def matching_tags(columns: Iterable[StoredColumn], rules: ClassRules, at: datetime, by: str) -> Iterator[StoredTag]:
    """Yield a tag for each class that a rule recognises in the name of a column or field, or its metadata names."""
    for column in columns:
        if column.dropped_at is not None:
            continue
        words = column_words(column.display_path.rpartition(".")[2])
        for name, rule in rules.classes.items():
            if pattern := rule.match(words, column.data_type):
                why = f"name matches {pattern}"
                yield StoredTag(column.key, name, "rules", at, by, why, rule.confidence)
        yield from _commented_tags(column, rules, at)
        yield from _stated_tags(column, rules, at)


def _commented_tags(column: StoredColumn, rules: ClassRules, at: datetime) -> Iterator[StoredTag]:
    """Yield the classes that a comment of the column names: `pii: email, phone`."""
    comments = [column.description, *(one.description for one in column.stated_facts)]
    named = [
        name for one in comments for found in _COMMENT.findall(one or "") for name in re.findall(r"[\w.-]+", found)
    ]
    for name in dict.fromkeys(one.lower() for one in named):
        if name in rules.classes or name == "pii":
            yield StoredTag(column.key, name, "comment", at, "", "its comment says so")


def _stated_tags(column: StoredColumn, rules: ClassRules, at: datetime) -> Iterator[StoredTag]:
    """Yield the classes that metadata of a source (dbt's `meta`) names: `email: true`, `classification: email`."""
    for facts in column.stated_facts:
        for name, value in facts.meta:
            plain = value.strip().strip('"').lower()
            named = name.lower() if plain in ("true", "yes") else plain
            if named in rules.classes or named == "pii":
                source = facts.source.partition("/")[0] or "meta"
                yield StoredTag(column.key, named, source, at, facts.source, f"metadata {name}={plain}", 1.0)


def _has_words(pattern: str, words: str) -> bool:
    return re.search(rf"(?:^|_)(?:{pattern})(?:$|_)", words) is not None
