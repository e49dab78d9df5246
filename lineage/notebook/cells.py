"""Lineage in a notebook: the explorer's page as the output of a cell.

The output is static: it survives saving, reopening without a kernel, nbconvert and editors that show notebooks. It
asks for nothing over the network.

>>> from lineage import extract_script
>>> sql = "CREATE VIEW v AS SELECT a + b AS c FROM t"
>>> show(extract_script(sql, "postgres"), sql=sql, dialect="postgres")
<lineage of 2 tables, 3 edges>
"""

from __future__ import annotations

import html
import tempfile
import uuid
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lineage.catalog import Catalog
from lineage.export.graph_part import GraphPart, read_part
from lineage.export.page.explorer_file import html_page
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.screen.listing import counted
from lineage.store import GraphStore, open_store
from lineage.traversal import resolve
from lineage_ingest.batch.attribution import of_files
from lineage_ingest.batch.builder import BatchBuilder

if TYPE_CHECKING:
    from lineage.notebook.live import LiveLineage

__all__ = ["LineageView", "show", "show_tab"]

_FEW = 30
_TEXT = "notebook"


class LineageView:
    """A page of lineage: a notebook shows it, `save` writes it as a file.

    `live` is what is chosen in it (`live.selected`), and chooses (`live.select`); None unless it was asked for.
    """

    def __init__(self, page: str, part: GraphPart, height: int, cell: str = "") -> None:
        """Take a page of a part of a graph, the height of its frame in pixels, and its number if it is live.

        Raises:
            ImportError: a live page needs the extra `notebook`.
        """
        self.page = page
        self.live = _live(part, cell) if cell else None
        self._part = part
        self._height = height

    def __repr__(self) -> str:
        tables, edges = counted(len(self._part.datasets), "table"), counted(len(self._part.edges), "edge")
        return f"<lineage of {tables}, {edges}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(repr(self)[1:-1])}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self._height}px; border: 1px solid #ccc; border-radius: 4px" '
            f'srcdoc="{html.escape(self.page)}"></iframe>'
        )

    def _ipython_display_(self) -> None:
        if self.live is None:
            raise NotImplementedError  # then the notebook takes the HTML
        from IPython.display import HTML, display  # noqa: PLC0415  only where there is a notebook

        display(HTML(self._repr_html_()), self.live)

    def save(self, path: str | Path) -> Path:
        """Write the page as a file that opens in any browser, offline; return its path."""
        file = Path(path)
        file.write_text(self.page, encoding="utf-8")
        return file


_Shown = GraphStore | str | Path | StatementLineage | Iterable[StatementLineage]


def show(
    what: _Shown,
    *,
    table: str | None = None,
    column: str | None = None,
    sql: str = "",
    dialect: str = "ansi",
    hops: int = 20,
    height: int = 640,
    live: bool = False,
) -> LineageView:
    """Return the lineage of a store, or of what `extract` or `extract_script` returned, for a notebook to show.

    A store is open, or an address: a file, bolt://… or http://…. With `table` or `column`, only what is up to `hops`
    upstream and downstream of it is shown. `sql` is the text that the statements are of: with it, edges have their
    evidence; `dialect` is the text's.

    With `live` a second output tells Python what is chosen in the picture, as long as there is a kernel: see `live`.

    Raises:
        ImportError: `live` needs the extra `notebook`.
        StoreError: the store could not be read.
        NameLookupError: there is no such table or column, or several.
        TooManyTablesError: the page would have more than 2,000 tables.
    """
    return _shown(what, column or table, sql, dialect, hops, height, uuid.uuid4().hex if live else "")


def _shown(what: _Shown, name: str | None, sql: str, dialect: str, hops: int, height: int, cell: str) -> LineageView:
    if isinstance(what, str | Path):
        with open_store(str(what), read_only=True) as store:
            return _view(store, name, hops, height, cell)
    if not isinstance(what, StatementLineage | Iterable):
        return _view(what, name, hops, height, cell)
    statements = (what,) if isinstance(what, StatementLineage) else cast("Iterable[StatementLineage]", what)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "cell.db") as store:
        at = datetime.now(UTC)
        naming = Naming(dialect_named(dialect))
        builder = BatchBuilder(naming, Catalog((), naming.dialect), at, of_files(at))
        builder.add_file(_TEXT, sql, [replace(one, source=_TEXT) for one in statements])
        store.apply(builder.batch("sql", "notebook", ()))
        return _view(store, name, hops, height, cell, sorted(builder.targets()))


def show_tab(*arguments: object, **options: object) -> Path:
    """Open what `show` returns for the same arguments in a tab of the browser; return the page's file."""
    view = show(*arguments, **options)  # type: ignore[arg-type]
    file = view.save(Path(tempfile.mkdtemp(prefix="lineage-")) / "lineage.html")
    webbrowser.open(file.as_uri())
    return file


def _live(part: GraphPart, cell: str) -> LiveLineage:
    try:
        from lineage.notebook.live import LiveLineage  # noqa: PLC0415  an extra
    except ImportError as error:
        message = "live pictures need the extra `notebook`: pip install '.[notebook]' in a checkout of lineage"
        raise ImportError(message) from error
    return LiveLineage(part, cell)


def _view(
    store: GraphStore, name: str | None, hops: int, height: int, cell: str, written: Sequence[str] = ()
) -> LineageView:
    part = read_part(store, [resolve(store, name)] if name else (), max_hops=hops)
    if not name and len(part.datasets) <= _FEW:
        part = replace(part, focus=written)  # the page opens with a picture, not with a list of tables
    return LineageView(html_page(store, part, cell=cell or None), part, height, cell)
