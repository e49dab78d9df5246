"""Lineage in a notebook: the explorer's page as the output of a cell."""

from lineage.notebook.cells import LineageView, show, show_tab

__all__ = ["LineageView", "show", "show_tab"]
