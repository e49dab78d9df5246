"""Ingest SQL files: find, decode, resolve against each other, store."""

from lineage_ingest.sql_files.files.discovery import NoSqlFilesError, find_sql_files
from lineage_ingest.sql_files.files.file_reader import SqlFile
from lineage_ingest.sql_files.files.projects import ProjectError
from lineage_ingest.sql_files.ingest import ingest_sql_files
from lineage_ingest.sql_files.retirement import GoneFiles, GoneFilesError
from lineage_ingest.sql_files.summary import IngestSummary

__all__ = [
    "GoneFiles",
    "GoneFilesError",
    "IngestSummary",
    "NoSqlFilesError",
    "ProjectError",
    "SqlFile",
    "find_sql_files",
    "ingest_sql_files",
]
