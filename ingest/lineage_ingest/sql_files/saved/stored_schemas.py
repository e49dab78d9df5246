"""What a store knows of tables, for a catalog; it tells whether a table has exactly the columns that are stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from lineage.catalog import Catalog
from lineage.model.batch import DatasetRecord, JobKind
from lineage.model.files import FileKey
from lineage.model.names import ColumnPath, Naming, dataset_key
from lineage.sql.script.mentioned_names import defined_names, name_parts
from lineage.store.planning.columns import with_parents
from lineage.store.protocol import GraphStore
from lineage.store.values import ColumnHead, StoredDataset, StoredJob
from lineage_ingest.sql_files.files.sources import Sources

__all__ = ["StoredSchemas", "learnt_tables", "made_in", "top_level"]

_DEFINING = tuple(kind for kind in JobKind if kind.defines_output)


class StoredSchemas:
    """The datasets and columns of a store, before an ingest.

    A table may have columns that its newest schema lacks, as long as others define or use them, and may lack columns
    that statements name. Whether they stay, or come back, is decided anew each time that the table is stated.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._datasets: list[StoredDataset] | None = None
        self._paths: dict[str, set[str]] = defaultdict(set)
        self._unplaced: set[str] = set()
        self._last_seen: dict[str, datetime] = {}
        self._with_schema: set[str] = set()

    def datasets(self) -> list[StoredDataset]:
        """Return all datasets; they are read once."""
        if self._datasets is None:
            self._datasets = self._store.datasets()
            self._last_seen = {one.key: one.last_seen for one in self._datasets}
            self._with_schema = {one.key for one in self._datasets if one.schema_known}
        return self._datasets

    def is_stored(self, dataset: str) -> bool:
        """Return whether the store had a dataset."""
        return dataset in self._last_seen

    def has_schema(self, dataset: str) -> bool:
        """Return whether the store had the schema of a dataset."""
        return dataset in self._with_schema

    def columns(self, dataset: str) -> set[str]:
        """Return the columns of a dataset, without nested fields; none if they have not been read."""
        return {path for path in self._paths.get(dataset, ()) if path == top_level(path)}

    def seen_after(self, at: datetime) -> set[str]:
        """Return the datasets that were seen after a time."""
        return {key for key, seen in self._last_seen.items() if seen > at}

    def column_heads(self, datasets: Collection[str]) -> Iterator[ColumnHead]:
        """Yield the columns of datasets, by key, in order."""
        for key in datasets:
            self._paths[key].clear()
        for column in self._store.column_heads(datasets):
            self._paths[column.dataset].add(column.path)
            if column.ordinal is None and not column.nested:
                self._unplaced.add(column.dataset)
            yield column

    def is_placed(self, record: DatasetRecord, named: Collection[str]) -> bool:
        """Return whether the schema of a dataset has all columns that the store has of it.

        It need not have the fields that are `named`, by the lineage that is stated: these stay. If the columns have not
        been read, it is not known, unless the dataset is new.
        """
        if record.key not in self._paths:
            return not self.is_stored(record.key)
        stated = {path for column in record.columns for path in with_parents(column.path)}
        fields = (path for path in self._paths[record.key] if path != top_level(path))
        return record.key not in self._unplaced and all(path in named or path in stated for path in fields)

    def is_settled(self, record: DatasetRecord, named: Collection[str]) -> bool:
        """Return whether stating a dataset as it was stated last decides nothing about its columns.

        `named` are the fields that the lineage which is stated names.
        """
        if record.key not in self._paths:
            return not record.schema_known
        paths = self._paths[record.key]
        return self.is_placed(record, named) and all(column.path in paths for column in record.columns)


def learnt_tables(
    store: GraphStore,
    schemas: StoredSchemas,
    sources: Sources,
    naming: Naming,
    named: Iterable[str],
    made: frozenset[tuple[str, ...]],
) -> Catalog:
    """Return what the store knows of the tables that texts may name, as a store that knows only what holds now.

    What only files have defined is left out, if these are read again, are gone, or no longer define it. For tables that
    the texts make, which `made` has by the last parts of their names, the texts decide anyway.
    """
    known = Catalog.from_store(schemas, naming.dialect, naming.dataset_namespace, named)
    default = tuple(part.lower() for part in (naming.default_schema,) if part is not None)
    others = (t.name for t in known if made.isdisjoint(_last_parts(t.name, default)))
    keys = {dataset_key(naming.dataset_namespace, name): name for name in others}
    writers = store.writers_of(keys, _DEFINING) if keys else {}
    every = {writer.job for listed in writers.values() for writer in listed}
    ended = {writer.job for listed in writers.values() for writer in listed if writer.until is not None}
    jobs = {job.key: job for job in store.jobs(every)} if every else {}
    described = {one.key: one.schema_at for one in schemas.datasets()}
    read = {str(file.key): file.readable for file in sources.files}
    left_out: set[str] = set()
    for key, listed in writers.items():
        defining = [job for writer in listed if (job := jobs.get(writer.job)) is not None and _defines(job)]
        at = described.get(key)
        is_theirs = bool(defining) and at is not None and all(at <= job.last_seen for job in defining)
        if is_theirs and all(job.key in ended or _is_read_again(job, sources, read) for job in defining):
            left_out.add(keys[key])
    return Catalog((table for table in known if table.name not in left_out), naming.dialect).as_learnt()


def made_in(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """Return the last two parts of the names of tables that texts may make, or the last one if there are no more."""
    return frozenset(name_parts(name)[-2:] for text in texts for name in defined_names(text.lower()))


def _last_parts(name: str, default: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return the last parts of a name, as `made_in` does; also without the default schema."""
    parts = name_parts(name)[-2:]
    return {parts, parts[-1:]} if parts[:-1] == default else {parts}


def _defines(job: StoredJob) -> bool:
    return (job.operation or "").startswith(("CREATE", "SELECT"))


def _is_read_again(job: StoredJob, sources: Sources, read: Mapping[str, bool]) -> bool:
    """Return whether the ingest decides what a file's job states: the file is read, or is gone from a folder of it.

    `read` are the files of the ingest, by key, and whether they are readable.
    """
    if job.file_key is None or job.retired_at is not None or job.file_key in read:
        return job.retired_at is not None or read.get(job.file_key or "", False)
    file = FileKey.parse(job.file_key)
    return file.environment == sources.environment and any(
        folder.project.name == file.project and folder.holds(file.path) for folder in sources.covered_folders()
    )


def top_level(path: str) -> str:
    """Return the column that a nested field is in; a column itself.

    >>> top_level("address.zip"), top_level('"a.b"')
    ('address', '"a.b"')
    """
    return path if "." not in path else str(ColumnPath(ColumnPath.parse(path).parts[:1]))
