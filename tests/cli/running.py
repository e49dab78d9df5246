"""Runs the command line in this process: what it prints, and its exit code."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import Any, NamedTuple
from unittest import mock

from lineage.cli.main import run


class Finished(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its standard output as a JSON value."""
        return json.loads(self.out)


def lineage(*arguments: object, stdin: str = "", columns: int | None = None) -> Finished:
    """Run `lineage` with these arguments, as on a terminal of so many columns."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.dict(os.environ, {"COLUMNS": str(columns or "")}),
        mock.patch.object(sys, "argv", ["lineage", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Finished(code, out.getvalue(), err.getvalue())
