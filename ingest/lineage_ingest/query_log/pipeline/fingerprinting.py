"""The stage "fingerprint": rows of the log schema become runs of templates, and each template keeps one sample.

A template is what all runs of one query have in common: dialect, defaults, fingerprint, whether the text is truncated,
and the destination of the result. Later stages get the text once per template, not with every run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.sql.scan import mask_literals
from lineage.sql.scan.arrays import fingerprint_array
from lineage_ingest.query_log.log_schema import LOG_SCHEMA, Problem, Status
from lineage_ingest.query_log.pipeline.extraction_units import PART_TYPE

__all__ = ["OF_RUNS", "RUN_SCHEMA", "fingerprint_rows"]

RUN_SCHEMA = pa.schema(
    [
        pa.field("template", pa.int64()),  # null: the row produces no lineage, `outcome` has the reason
        pa.field("session", pa.string()),
        pa.field("started_at", pa.int64()),  # microseconds since 1970 in UTC; null if the log has no time
        pa.field("position", pa.int64()),
        pa.field("user", pa.string()),
        pa.field("duration_us", pa.int64()),
        pa.field("runs", pa.int64()),
        pa.field("outcome", pa.string()),
        # Masked, the smallest so far: the text of a row with an outcome, else a time that cannot be parsed.
        pa.field("sample", pa.string()),
        pa.field("part", PART_TYPE),  # of a template's smallest text so far
    ]
)

OF_RUNS = [name for name in RUN_SCHEMA.names if name not in ("outcome", "sample", "part")]
"""The columns of runs, without those of rows that are left out and of samples."""
_LINEAGE = frozenset((str(Status.SUCCESS), str(Status.UNKNOWN)))
_MAX_TEMPLATES = 100_000
_MAX_CHARACTERS = 200_000_000
_SAMPLE_LENGTH = 200
_SEPARATOR = "\x1f"
_SMALLEST, _LARGEST = 0, 4_102_444_800_000_000  # 1970 to 2100: other values are not times of runs


def fingerprint_rows(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield record batches of the log schema as batches of `RUN_SCHEMA`, row for row."""
    templates = _Templates()
    for batch in batches:
        if batch.num_rows:
            yield templates.runs(batch)


class _Templates:
    """A bounded cache of the templates that a worker has seen, so that it passes on few texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._best: dict[int, tuple[int, str]] = {}
        self._characters = 0
        self._sampled: dict[str, tuple[int, str]] = {}

    def runs(self, batch: Any) -> Any:
        """Return the runs of a batch."""
        columns = {name: batch.column(name) for name in LOG_SCHEMA.names}
        prints, outcome = _fingerprints(columns)
        stated = _source_lineage_fingerprint(columns["source_lineage"])
        if stated is not None:
            prints = pc.coalesce(pc.binary_join_element_wise(prints, stated, ""), stated, prints)
        outcome = pc.if_else(pc.and_(pc.is_null(prints), pc.is_null(outcome)), str(Problem.NO_TEXT), outcome)
        identity = pc.binary_join_element_wise(
            columns["dialect"],
            pc.fill_null(columns["default_database"], "\x00"),
            pc.fill_null(columns["default_schema"], "\x00"),
            pc.fill_null(columns["destination"], "\x00"),
            pc.if_else(columns["truncated"], "cut", "whole"),
            pc.if_else(pc.fill_null(columns["appends"], False), "appends", ""),
            prints,
            _SEPARATOR,
        )
        identity = pc.if_else(pc.is_null(outcome), identity, pa.scalar(None, pa.string()))
        encoded = identity.dictionary_encode()
        numbers = pa.array([self._number(name) for name in encoded.dictionary.to_pylist()], pa.int64())
        template = numbers.take(encoded.indices)
        moments = columns["started_at"].cast(pa.int64())
        absurd = pc.or_(pc.less(moments, _SMALLEST), pc.greater(moments, _LARGEST))
        return pa.RecordBatch.from_arrays(
            [
                template,
                columns["session"],
                pc.if_else(pc.fill_null(absurd, False), pa.scalar(None, pa.int64()), moments),
                columns["position"],
                columns["user"],
                columns["duration_us"],
                columns["runs"],
                outcome,
                self._samples(outcome, columns),
                self._parts(template, columns, prints),
            ],
            schema=RUN_SCHEMA,
        )

    def _number(self, identity: str | None) -> int | None:
        if identity is None:
            return None
        number = self._numbers.get(identity)
        if number is None:
            if len(self._numbers) >= _MAX_TEMPLATES:
                self._numbers.clear()
            digest = hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = self._numbers[identity] = int.from_bytes(digest, "big", signed=True)
        return number

    def _parts(self, template: Any, columns: dict[str, Any], prints: Any) -> Any:
        """Return the part of each row whose text is its template's smallest so far; null for other rows.

        A template's sample is its smallest text, so that it does not depend on the order of rows.
        """
        if len(self._best) > _MAX_TEMPLATES or self._characters > _MAX_CHARACTERS:
            self._best.clear()
            self._characters = 0
        texts = columns["query_text"]
        chosen: dict[int, int] = {}
        for number, text, row in self._candidates(template, texts):
            rank = len(text), text
            best = self._best.get(number)
            if best is None or rank < best:
                self._best[number] = rank
                self._characters += len(text)
                chosen[number] = row
        rows = sorted(chosen.values())
        picked = pa.array(rows, pa.int64())
        fields = {
            "text": pc.fill_null(texts.take(picked), ""),
            "fingerprint": prints.take(picked),
            "dialect": columns["dialect"].take(picked),
            "database": columns["default_database"].take(picked),
            "schema": columns["default_schema"].take(picked),
            "destination": columns["destination"].take(picked),
            "truncated": columns["truncated"].take(picked),
            "appends": pc.fill_null(columns["appends"].take(picked), False),
            "stated": columns["source_lineage"].take(picked),
        }
        parts = pa.StructArray.from_arrays([fields[f.name].cast(f.type) for f in PART_TYPE], fields=list(PART_TYPE))
        indexes: list[int | None] = [None] * len(template)
        for index, row in enumerate(rows):
            indexes[row] = index
        return parts.take(pa.array(indexes, pa.int64()))

    def _candidates(self, template: Any, texts: Any) -> Iterator[tuple[int, str, int]]:
        """Yield each distinct text that is not longer than its template's smallest so far, with one of its rows."""
        encoded = template.dictionary_encode()
        numbers = encoded.dictionary.to_pylist()
        known = (self._best.get(number) for number in numbers)
        best = pa.array([None if one is None else one[0] for one in known], pa.int64()).take(encoded.indices)
        longer = pc.fill_null(pc.greater(pc.utf8_length(texts), best), False)
        rows = pc.indices_nonzero(pc.and_not(pc.is_valid(template), longer))
        given = pc.fill_null(texts.take(rows), "").dictionary_encode()
        first: dict[tuple[int, int], int] = {}
        for index, code, row in zip(
            encoded.indices.take(rows).to_pylist(), given.indices.to_pylist(), rows.to_pylist(), strict=True
        ):
            first.setdefault((index, code), row)
        words = given.dictionary.to_pylist()
        for (index, code), row in first.items():
            yield numbers[index], words[code], row

    def _samples(self, outcome: Any, columns: dict[str, Any]) -> Any:
        """Return samples: for each reason why rows have no lineage, the beginning of the smallest text so far.

        For rows that ran, the sample is the smallest time that cannot be parsed. Reports of files are kept unchanged.
        """
        texts, dialects, times = columns["query_text"], columns["dialect"], columns["unread_time"]
        samples: list[str | None] = [None] * len(outcome)
        if times.null_count < len(times):
            shapes = pc.if_else(pc.is_null(outcome), times, pa.scalar(None, pa.string()))
            for shape in sorted(shapes.unique().drop_null().to_pylist()):
                best = self._sampled.get("")
                if best is None or (len(shape), shape) < best:
                    self._sampled[""] = len(shape), shape
                    samples[pc.index(shapes, shape).as_py()] = shape
        for row in pc.indices_nonzero(pc.is_valid(outcome)).to_pylist():
            kind, text = outcome[row].as_py(), texts[row].as_py()
            if not text:
                continue
            if kind == Problem.FILE_REPORT:
                samples[row] = text
                continue
            best = self._sampled.get(kind)
            if best is None or min(len(text), _SAMPLE_LENGTH) <= best[0]:
                is_status = kind == Problem.UNKNOWN_STATUS
                sample = text if is_status else _beginning(text, dialects[row].as_py())
                rank = len(sample), sample
                if best is None or rank < best:
                    self._sampled[kind] = rank
                    samples[row] = rank[1]
        return pa.array(samples, pa.string())


def _beginning(text: str, dialect: str | None) -> str:
    """Return the beginning of a text with its literals masked, since they may be personal data."""
    try:
        name = dialect_named(dialect or "ansi").name
    except UnknownDialectError:
        name = "ansi"
    return mask_literals(text[: 10 * _SAMPLE_LENGTH], name)[:_SAMPLE_LENGTH]


def _fingerprints(columns: dict[str, Any]) -> tuple[Any, Any]:
    """Return each row's fingerprint, and why a row produces no lineage: its problem, or its outcome."""
    problem = columns["problem"]
    # An impossible time is ignored; the statement still has lineage.
    problem = pc.if_else(pc.equal(problem, str(Problem.ABSURD_TIME)), pa.scalar(None, pa.string()), problem)
    ended = pc.is_in(columns["status"], value_set=pa.array(sorted(_LINEAGE)))
    outcome = pc.coalesce(problem, pc.if_else(ended, pa.scalar(None, pa.string()), columns["status"]))
    texts = pc.if_else(pc.is_null(outcome), columns["query_text"], pa.scalar(None, pa.string()))
    encoded = columns["dialect"].dictionary_encode()
    prints, rows = [], []
    for index, name in enumerate(encoded.dictionary.to_pylist()):
        own = pc.indices_nonzero(pc.fill_null(pc.equal(encoded.indices, index), False))
        try:
            found = fingerprint_array(texts.take(own), name)
        except UnknownDialectError:
            outcome = pc.if_else(
                pc.fill_null(pc.equal(encoded.indices, index), False), str(Problem.UNKNOWN_DIALECT), outcome
            )
            found = pa.nulls(len(own), pa.string())
        prints.append(found)
        rows.append(own)
    rows.append(pc.indices_nonzero(pc.is_null(encoded.indices)))
    prints.append(pa.nulls(len(rows[-1]), pa.string()))
    return pa.concat_arrays(prints).take(pc.sort_indices(pa.concat_arrays(rows))), outcome


def _source_lineage_fingerprint(lineage: Any) -> Any:
    """Return a fingerprint of the column lineage in the log; None if no row has any."""
    if lineage.null_count == len(lineage):
        return None
    digests = [
        None if stated is None else hashlib.blake2b(_canonical(stated).encode(), digest_size=16).hexdigest()
        for stated in lineage.to_pylist()
    ]
    return pa.array(digests, pa.string())


def _canonical(stated: list[dict[str, str]]) -> str:
    return "stated" + json.dumps(stated, sort_keys=True)
