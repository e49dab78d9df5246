"""A site of the lineage: a page of each table under an address that stays, an index, and the explorer."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2

from lineage import __version__
from lineage.export.graph_part import MOST_TABLES, GraphPart, partial_tables
from lineage.export.page.explorer_file import html_page
from lineage.export.picture.svg import STYLE, svg
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of
from lineage.model.text.visible_text import visible, visible_line
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset, StoredEdge, StoredJob

__all__ = ["ForeignFolderError", "write_site"]

_GENERATOR = "lineage export site"
_MOST_NEIGHBOURS = 40
"""A picture of more tables around one is a strip of lines."""


class ForeignFolderError(ValueError):
    """A folder with files that are not a site's: it is not overwritten."""


@dataclass(frozen=True, slots=True)
class _Neighbour:
    """An end of a column's edges: its name, its page, and how it is connected."""

    name: str
    page: str
    carries: bool
    masked: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """A column of a table's page; the table itself, for edges of its rows."""

    key: str
    path: str
    data_type: str | None
    description: str | None
    tags: list[str]
    dropped: bool
    sources: list[_Neighbour] = field(default_factory=list)
    readers: list[_Neighbour] = field(default_factory=list)


def write_site(store: GraphStore, part: GraphPart, folder: Path, at: datetime | None = None) -> int:
    """Write the site of a part of the graph into a folder; return the number of its files.

    What an earlier site left there and this one lacks is removed.

    Raises:
        ForeignFolderError: the folder has files, and no site of this command.
        OSError: a file cannot be written.
        StoreError: the store could not be read.
    """
    index, tables = folder / "index.html", folder / "tables"
    if folder.exists() and any(folder.iterdir()) and not (index.exists() and _is_ours(index)):
        raise ForeignFolderError(f"{folder} has files, and no site of `{_GENERATOR}`: name another folder")
    tables.mkdir(parents=True, exist_ok=True)
    site = _Site(store, part, at or datetime.now(UTC))
    written = {index}
    index.write_text(site.index(), encoding="utf-8")
    if site.has_explorer:
        (folder / "explorer.html").write_text(html_page(store, part, site.at), encoding="utf-8")
        written.add(folder / "explorer.html")
    for page, text in site.tables():
        (tables / page).write_text(text, encoding="utf-8")
        written.add(tables / page)
    for former in {*tables.glob("*.html"), folder / "explorer.html"} - written:
        former.unlink(missing_ok=True)
    return len(written)


def _is_ours(index: Path) -> bool:
    with index.open(encoding="utf-8", errors="replace") as opened:
        return f'content="{_GENERATOR}' in opened.read(2_000)


class _Site:
    def __init__(self, store: GraphStore, part: GraphPart, at: datetime) -> None:
        self.store, self.part, self.at = store, part, at
        self.partial = partial_tables(store, part)
        self.totals = {"tables": len(part.datasets), "columns": len(part.columns), "partial": len(self.partial)}
        self.named = {one.key: one for one in part.datasets}
        self.pages = _pages(part)
        self.paths = {one.key: one.display_path for one in part.columns}
        self.columns: dict[str, list[StoredColumn]] = defaultdict(list)
        for column in part.columns:
            self.columns[column.dataset].append(column)
        self.edges_of: dict[str, list[StoredEdge]] = defaultdict(list)
        for edge in part.edges:
            for table in {dataset_of(edge.source), dataset_of(edge.target)}:
                self.edges_of[table].append(edge)
        self.feeds_of: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for feed in part.feeds:
            for table in set(feed):
                self.feeds_of[table].append(feed)
        self.has_explorer = len(part.datasets) <= MOST_TABLES

    def index(self) -> str:
        groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for dataset in sorted(self.part.datasets, key=lambda table: (table.namespace, table.display_name)):
            schema = dataset.display_name.rpartition(".")[0]
            groups[dataset.namespace, schema].append(
                {
                    "table": dataset,
                    "page": f"tables/{self.pages[dataset.key]}",
                    "columns": len(self.columns[dataset.key]),
                    "about": _about(dataset.description, dataset),
                    "sources": len(self._beside(dataset.key, upstream=True)),
                    "readers": len(self._beside(dataset.key, upstream=False)),
                    "partial": dataset.key in self.partial,
                }
            )
        return self._render("site_index.html.j2", groups=groups, up="")

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield the file name and the text of each table's page."""
        keys = [one.key for one in self.part.datasets]
        about = self.store.job_keys_of(keys)
        jobs = {job.key: job for job in self.store.jobs(sorted({job for of in about.values() for job in of}))}
        for table in self.part.datasets:
            own = [jobs[key] for key in about.get(table.key, ()) if key in jobs]
            yield self.pages[table.key], self._table(table, [job for job in own if table.key in job.writes])

    def _table(self, table: StoredDataset, writers: list[StoredJob]) -> str:
        around = {table.key} | self._beside(table.key, upstream=True) | self._beside(table.key, upstream=False)
        edges = self.edges_of[table.key]
        picture = None
        if 1 < len(around) <= _MOST_NEIGHBOURS:
            columns = [column for key in sorted(around) for column in self.columns[key]]
            near = GraphPart(
                [self.named[key] for key in sorted(around)], columns, edges, [table.key], self.feeds_of[table.key]
            )
            picture = svg(near, partial=self.partial, links={key: self.pages[key] for key in around - {table.key}})
        found = self.store.diagnostics_of([job.key for job in writers])
        return self._render(
            "site_table.html.j2",
            table=table,
            about=_about(table.description, table),
            tags=_tags(table),
            owners=sorted({one.owner for one in table.stated_facts if one.owner}),
            partial=table.key in self.partial,
            picture=picture,
            neighbours=len(around) - 1,
            whole_sources=self._pairs_with(table.key, upstream=True),
            whole_readers=self._pairs_with(table.key, upstream=False),
            explorer=f"../explorer.html#/lineage?{urlencode({'of': table.key})}" if self.has_explorer else None,
            rows=self._rows(table),
            writers=writers,
            diagnostics=[one.diagnostic for one in found],
            up="../",
        )

    def _rows(self, table: StoredDataset) -> list[_Row]:
        rows = [
            _Row(
                one.key, one.display_path, one.data_type, _about(one.description, one), _tags(one),
                one.dropped_at is not None,
            )
            for one in self.columns[table.key]
        ]  # fmt: skip
        by_key = {row.key: row for row in rows}
        of_rows = _Row(table.key, "(its rows)", None, "which rows the table has", [], False)
        into: dict[tuple[str, str], list[StoredEdge]] = defaultdict(list)
        out: dict[tuple[str, str], list[StoredEdge]] = defaultdict(list)
        for edge in self.edges_of[table.key]:
            if dataset_of(edge.target) == table.key:
                into[edge.target, edge.source].append(edge)
            if dataset_of(edge.source) == table.key:
                out[edge.source, edge.target].append(edge)
        for listed, name in ((into, "sources"), (out, "readers")):
            for (here, other), edges in listed.items():
                getattr(by_key.get(here, of_rows), name).append(self._neighbour(other, edges))
        for row in (*rows, of_rows):
            for each in (row.sources, row.readers):
                each.sort(key=lambda one: (not one.carries, one.name))
        return [*rows, of_rows] if of_rows.sources or of_rows.readers else rows

    def _neighbour(self, key: str, edges: list[StoredEdge]) -> _Neighbour:
        table = dataset_of(key)
        name = self.named[table].display_name
        name = f"{name} (its rows)" if key == table else f"{name}.{self.paths.get(key, key.partition('#')[2])}"
        flows = [edge for edge in edges if edge.kind is EdgeKind.CONTRIBUTES]
        return _Neighbour(name, self.pages[table], bool(flows), bool(flows) and all(edge.masking for edge in flows))

    def _beside(self, table: str, *, upstream: bool) -> set[str]:
        ends = {dataset_of(edge.source if upstream else edge.target) for edge in self.edges_of[table]}
        ends |= {source if upstream else target for source, target in self.feeds_of[table]}
        return ends - {table}

    def _pairs_with(self, table: str, *, upstream: bool) -> list[StoredDataset]:
        """Return the tables of feeds of which the columns are not known."""
        keys = {source if upstream else target for source, target in self.feeds_of[table]} - {table}
        return [self.named[key] for key in sorted(keys)]

    def _render(self, template: str, **values: Any) -> str:
        return (
            _templates()
            .get_template(template)
            .render(
                site=self, picture_style=STYLE, generator=f"{_GENERATOR} {__version__}", totals=self.totals, **values
            )
        )


def _pages(part: GraphPart) -> dict[str, str]:
    """Return the file name of each table's page: its name, with a number of its key if another has the same."""

    def plain(one: StoredDataset) -> str:
        return re.sub(r"[^\w.-]+", "-", one.display_name.casefold(), flags=re.ASCII).strip(".-")[:100] or "table"

    times = Counter(plain(one) for one in part.datasets)
    return {
        one.key: f"{plain(one)}.html" if times[plain(one)] == 1 else f"{plain(one)}-{_digest(one.key)}.html"
        for one in part.datasets
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _about(description: str | None, of: StoredDataset | StoredColumn) -> str | None:
    return description or next((one.description for one in of.stated_facts if one.description), None)


def _tags(of: StoredDataset | StoredColumn) -> list[str]:
    return sorted({*of.tags, *(tag for one in of.stated_facts for tag in one.tags)})


@cache
def _templates() -> jinja2.Environment:
    folder = files("lineage.export.page")
    texts = {
        name: folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("site_base.html.j2", "site_index.html.j2", "site_table.html.j2")
    }
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(texts), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters.update(shown=lambda text: visible_line(str(text)), text=lambda text: visible(str(text)))
    environment.filters["digest"] = lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return environment
