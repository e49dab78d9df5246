"""The settings of the language server, from the command line or the editor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

__all__ = ["EditorSettings"]


@dataclass(frozen=True)
class EditorSettings:
    """Where the graph is, and how names in files are read where the graph does not know the file.

    `explorer` is the address of a running `lineage serve`. `preview` says that the editor shows the result of the
    impact command itself.
    """

    store: str | None = None
    dialect: str | None = None
    namespace: str = ""
    default_database: str | None = None
    default_schema: str | None = None
    catalogs: tuple[str, ...] = ()
    explorer: str | None = None
    preview: bool = False

    def changed_by(self, options: Any) -> EditorSettings:
        """Return the settings with those that an editor sends (`initializationOptions`) in camel case; others stay."""
        if not isinstance(options, Mapping):
            return self
        given: dict[str, Any] = {}
        for setting in fields(self):
            head, *rest = setting.name.split("_")
            value = options.get(head + "".join(word.title() for word in rest))
            if isinstance(value, str) and value.strip():
                given[setting.name] = value.strip()
            elif isinstance(value, list) and setting.name == "catalogs":
                given[setting.name] = tuple(str(each) for each in value)
            elif isinstance(value, bool) and setting.name == "preview":
                given[setting.name] = value
        return replace(self, **given)

    @property
    def explorer_address(self) -> str | None:
        """The address of the explorer: as given, else that of the service which is the store."""
        address = self.explorer or (
            self.store if self.store and self.store.startswith(("http://", "https://")) else None
        )
        return address.rstrip("/") if address else None

    @property
    def store_address(self) -> str | None:
        """The store to open; None if none is given and there is no `lineage.db` here."""
        from lineage.store.opening import DEFAULT_PATH  # noqa: PLC0415

        return self.store or (DEFAULT_PATH if Path(DEFAULT_PATH).is_file() else None)
