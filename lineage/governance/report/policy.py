"""The policy file: which class of personal data may be where, and how well hidden. The first entry that fits counts."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from lineage.governance.exposure import Exposure
from lineage.governance.yaml_files import GovernanceFileError, read_yaml

__all__ = ["Policy", "PolicyEntry", "Verdict", "read_policy"]


class Verdict(StrEnum):
    """What a policy says, the worst last."""

    ALLOW = "allow"
    WARN = "warn"
    DENY = "deny"


class PolicyEntry(BaseModel):
    """Which columns an entry is about, and what it says of them.

    `classes`, `namespaces` and `tables` are patterns with `*` and `?`, ignoring case (`tables` are full names,
    `mart.*`); `exposures` are those meant. Purpose, legal basis, retention and recipient are what GDPR article 30 asks
    for: they are shown in the report.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    classes: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)
    tables: tuple[str, ...] = ("*",)
    exposures: tuple[Exposure, ...] = (Exposure.UNMASKED, Exposure.PARTIAL)
    verdict: Verdict
    purpose: str = ""
    legal_basis: str = ""
    retention: str = ""
    recipient: str = ""
    why: str = ""

    def fits(self, name: str, namespace: str, table: str, exposure: Exposure) -> bool:
        """Return whether it is about a class in a table."""
        return (
            exposure in self.exposures
            and _matches(self.classes, name)
            and _matches(self.namespaces, namespace)
            and _matches(self.tables, table)
        )

    @property
    def record(self) -> dict[str, str]:
        """What it says besides the verdict, by name."""
        given = {one: getattr(self, one) for one in ("why", "purpose", "legal_basis", "retention", "recipient")}
        return {name: text for name, text in given.items() if text}


class Policy(BaseModel):
    """A policy file. What no entry is about gets the `default`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: Verdict = Verdict.ALLOW
    policies: tuple[PolicyEntry, ...] = Field(min_length=1)

    def decide(self, name: str, namespace: str, table: str, exposure: Exposure) -> tuple[Verdict, PolicyEntry | None]:
        """Return what it says of a class in a table, and the entry that decides."""
        for entry in self.policies:
            if entry.fits(name, namespace, table, exposure):
                return entry.verdict, entry
        return self.default, None

    def unknown_classes(self, known: Collection[str]) -> list[str]:
        """Return the patterns of classes that no known class matches, sorted: their entries decide nothing."""
        patterns = {one for entry in self.policies for one in entry.classes if one.strip("*")}
        return sorted(one for one in patterns if not any(_matches((one,), name) for name in known))


def read_policy(path: Path) -> Policy:
    """Return the policy of a file.

    Raises:
        GovernanceFileError: the file cannot be read, or is no policy; the message has line and column.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GovernanceFileError(str(path), 1, 1, f"cannot be read: {error}") from error
    return read_yaml(path, text, Policy)


def _matches(patterns: tuple[str, ...], text: str) -> bool:
    return any(fnmatchcase(text.lower(), one.lower()) for one in patterns)
