"""Columns of relations that templates ask for by `adapter.get_columns_in_relation`, before dbt has built anything.

Templates are rendered before models are resolved: a model whose columns are asked for is resolved at once. Templates of
what it reads were rendered before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from lineage.sql.extraction import ExtractionOptions
from lineage_ingest.dbt.model_resolution import Earlier, ModelInput, ProjectResolution, ResolvedModel

__all__ = ["AskedColumns"]


class AskedColumns:
    """Returns the columns of the tables of a project, by their full names; `add` makes those of a model known."""

    def __init__(
        self,
        options: ExtractionOptions,
        schemas: Mapping[str, Collection[str]],
        described: Callable[[str], Collection[str]],
        learnt: Callable[[str], Collection[str] | None] = lambda _: None,
        earlier: Earlier = lambda _: None,
    ) -> None:
        """Take what `ProjectResolution` takes; `earlier` is what is known of models that have not changed."""
        self._options = options
        self._schemas = schemas
        self._described = described
        self._learnt = learnt
        self._earlier = earlier
        self._models: dict[str, ModelInput] = {}
        self._results: dict[str, ResolvedModel] = {}

    def add(self, model: ModelInput) -> None:
        """Add a model whose template was rendered."""
        self._models[model.table] = model

    def resolved(self, model: ModelInput) -> ResolvedModel | None:
        """Return the lineage of a model that was resolved because a later one asked for its columns."""
        found = self._results.get(model.key)
        is_same = found is not None and found.statement is not None and self._models[model.table] == model
        return found if is_same else None

    def of(self, table: str, *, is_built: bool) -> Collection[str] | None:
        """Return the columns of a table, if all are known; `is_built`: a model builds it."""
        if table not in self._models:
            return self._schemas.get(table) or (None if is_built else self._learnt(table))
        models = list(self._models.values())
        resolution = ProjectResolution(
            models, self._options, self._schemas, self._described, self._learnt, self._known_before
        )
        self._results |= resolution.resolve(only=[table])
        return resolution.columns(table, -1)

    def _known_before(self, model: ModelInput) -> ResolvedModel | None:
        return self._results.get(model.key) or self._earlier(model)
