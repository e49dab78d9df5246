"""The engines that a test runs on: both, where the native one is built."""

from __future__ import annotations

from lineage.sql.scan.implementation import PYTHON, native_engine

ENGINES = [PYTHON, *filter(None, [native_engine()])]
NAMES = [engine.name for engine in ENGINES]
