-- Version 1: the whole schema. Times are microseconds since 1970 in UTC, lists are JSON, flags are 0 and 1.
-- Columns are named as in `schema.py`, which says what they hold.

-- Tables and columns have one range of ids, since an edge may begin and end at either. A table is its own dataset.
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  dataset INTEGER NOT NULL
) STRICT;
CREATE INDEX node_of_dataset ON node (dataset);

CREATE TABLE dataset (
  id INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL, name TEXT, kind TEXT, dialect TEXT, schema_known INTEGER, aliases TEXT,
  first_seen INTEGER, last_seen INTEGER, dropped_at INTEGER, search TEXT, description TEXT, tags TEXT,
  written_at INTEGER, schema_at INTEGER, kind_at INTEGER, full_name TEXT, spelling TEXT, spelled_at INTEGER,
  facts TEXT, source_tags TEXT
) STRICT;
CREATE INDEX dataset_by_name ON dataset (search);
-- The groups of `schema_counts` in `read.sql`, whose expressions these are.
CREATE INDEX dataset_by_schema ON dataset (CASE
  WHEN substr(full_name, -1) = '.' OR ((instr(full_name, '"') OR instr(full_name, '`') OR instr(full_name, '[') OR instr(full_name, ']'))
    AND substr(full_name, length(rtrim(full_name, replace(full_name, '.', ''))) + 1) GLOB '*[]["`]*') THEN full_name || '/'
  ELSE rtrim(full_name, replace(full_name, '.', '')) END, namespace) WHERE dropped_at IS NULL;
CREATE INDEX dataset_with_aliases ON dataset (id) WHERE aliases <> '[]';

CREATE TABLE dataset_column (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL, name TEXT, data_type TEXT, ordinal INTEGER, inferred INTEGER, parent TEXT,
  dropped_at INTEGER, search TEXT, description TEXT, tags TEXT, aliases TEXT, first_seen INTEGER, spelling TEXT,
  last_ordinal INTEGER, facts TEXT, source_tags TEXT
) STRICT;
-- Searched for parts of names: reading all of this index takes 60 ms for a million columns, and an index of trigrams
-- (FTS5) would make storing them take six times as long.
CREATE INDEX column_by_name ON dataset_column (search);
CREATE INDEX field_of_column ON dataset_column (parent) WHERE parent IS NOT NULL;

-- Edges name jobs by number, also those of which there is no more than the name.
CREATE TABLE job_key (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  kind TEXT, sql TEXT, dialect TEXT, operation TEXT, source TEXT, source_line INTEGER, completeness TEXT,
  first_seen INTEGER, last_seen INTEGER, retired_at INTEGER, file_key TEXT, positions TEXT, observed_at TEXT,
  policies TEXT
) STRICT;
CREATE INDEX job_by_file ON job (file_key);
CREATE INDEX job_by_source ON job (source);

-- kind: 1 CONTRIBUTES, 2 REFERENCES, 3 FEEDS; 4 to 6: the same, ended. `period` is 0 for what holds, else its begin.
CREATE TABLE lineage (
  source INTEGER NOT NULL, kind INTEGER NOT NULL, target INTEGER NOT NULL, job INTEGER NOT NULL,
  period INTEGER NOT NULL,
  since INTEGER NOT NULL, until INTEGER, last_seen INTEGER,
  masking INTEGER, limited INTEGER, ambiguous INTEGER, subtypes TEXT, partly_masking TEXT, spans TEXT,
  PRIMARY KEY (source, kind, target, job, period)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_into ON lineage (target, kind, source, masking);
CREATE INDEX lineage_since ON lineage (since);
CREATE INDEX lineage_until ON lineage (until) WHERE until IS NOT NULL;

CREATE TABLE reads (
  job INTEGER NOT NULL, dataset INTEGER NOT NULL,
  first_seen INTEGER, last_seen INTEGER,
  PRIMARY KEY (job, dataset)
) STRICT, WITHOUT ROWID;
CREATE INDEX reads_of ON reads (dataset);

CREATE TABLE writes (
  job INTEGER NOT NULL, dataset INTEGER NOT NULL,
  first_seen INTEGER, last_seen INTEGER, observations TEXT,
  PRIMARY KEY (job, dataset)
) STRICT, WITHOUT ROWID;
CREATE INDEX writes_to ON writes (dataset);

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT, source TEXT, at INTEGER, last_seen INTEGER, counts TEXT, seconds REAL, complete_sources TEXT
) STRICT;
CREATE INDEX run_by_time ON run (last_seen);

CREATE TABLE observed (
  run INTEGER NOT NULL, job INTEGER NOT NULL,
  observations INTEGER, duration_us INTEGER, users TEXT, user_queries TEXT, other_users INTEGER, other_queries INTEGER,
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX observed_job ON observed (job);

CREATE TABLE change (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT, dataset TEXT, other TEXT, at INTEGER, replaced INTEGER, path TEXT, remade INTEGER, spelling TEXT
) STRICT;
CREATE INDEX change_by_time ON change (at);
CREATE INDEX change_by_other ON change (other);

CREATE TABLE diagnostic (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  code TEXT, severity TEXT, message TEXT, advice TEXT, span_start INTEGER, span_end INTEGER, span_line INTEGER,
  span_column INTEGER, source TEXT, job TEXT, run TEXT, last_seen INTEGER, file_key TEXT,
  reported_by INTEGER, about INTEGER
) STRICT;
CREATE INDEX diagnostic_about ON diagnostic (about);
CREATE INDEX diagnostic_by_source ON diagnostic (source);
CREATE INDEX diagnostic_by_file ON diagnostic (file_key);

CREATE TABLE usage_day (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  run TEXT, day TEXT, reads INTEGER, writes INTEGER, users TEXT, user_queries TEXT, other_users INTEGER,
  other_queries INTEGER, last_read INTEGER, last_write INTEGER,
  node INTEGER
) STRICT;
CREATE INDEX usage_of_node ON usage_day (node, day);

CREATE TABLE prune (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  older_than INTEGER, at INTEGER
) STRICT;

-- What people and rules say of the values of a column (by key, since it may not be there yet).
CREATE TABLE tag (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  subject TEXT NOT NULL, name TEXT NOT NULL, source TEXT, at INTEGER, stated_by TEXT, why TEXT, confidence REAL,
  denied INTEGER
) STRICT;
CREATE INDEX tag_of ON tag (subject, name);

-- Texts of unfinished runs: not lineage.
CREATE TABLE buffered_text (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  owner TEXT, text TEXT, parts TEXT, finished INTEGER, buffered_at INTEGER
) STRICT;
CREATE INDEX buffered_by_time ON buffered_text (buffered_at);

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Commits that changed what traversals follow, the last ones: the keys of tables and columns as JSON; null for many.
CREATE TABLE graph_change (
  number INTEGER PRIMARY KEY,
  keys TEXT
) STRICT;

-- Nodes with their keys, for the statements of `read.sql`.
CREATE VIEW a_table AS
SELECT node.key, dataset.* FROM dataset JOIN node ON node.id = dataset.id;

CREATE VIEW a_column AS
SELECT node.key, node.dataset AS dataset_id, owner.key AS dataset, dataset_column.*
FROM dataset_column JOIN node ON node.id = dataset_column.id JOIN node AS owner ON owner.id = node.dataset;

CREATE VIEW a_job AS
SELECT job_key.key, job.* FROM job JOIN job_key ON job_key.id = job.id;

-- Views for people: the names here stay.
CREATE VIEW tables AS
SELECT key, namespace, full_name AS name, kind, dialect, schema_known, datetime(first_seen / 1e6, 'unixepoch') AS first_seen,
       datetime(last_seen / 1e6, 'unixepoch') AS last_seen, datetime(dropped_at / 1e6, 'unixepoch') AS dropped_at,
       description, tags, aliases
FROM a_table;

CREATE VIEW columns AS
SELECT key, dataset AS "table", path AS name, data_type, ordinal, inferred, parent,
       datetime(dropped_at / 1e6, 'unixepoch') AS dropped_at, description, tags, aliases
FROM a_column;

CREATE VIEW edges AS
SELECT a.key AS source, b.key AS target,
       CASE e.kind WHEN 1 THEN 'CONTRIBUTES' WHEN 4 THEN 'CONTRIBUTES' WHEN 2 THEN 'REFERENCES' WHEN 5 THEN 'REFERENCES'
         ELSE 'FEEDS' END AS kind,
       e.subtypes, e.masking, j.key AS job, datetime(e.since / 1e6, 'unixepoch') AS valid_from,
       datetime(e.until / 1e6, 'unixepoch') AS valid_to, datetime(e.last_seen / 1e6, 'unixepoch') AS last_seen
FROM lineage AS e JOIN node AS a ON a.id = e.source JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job;

CREATE VIEW jobs AS
SELECT key, kind, operation, completeness, source, source_line, dialect, sql,
       datetime(first_seen / 1e6, 'unixepoch') AS first_seen, datetime(last_seen / 1e6, 'unixepoch') AS last_seen,
       datetime(retired_at / 1e6, 'unixepoch') AS retired_at
FROM a_job;

CREATE VIEW runs AS
SELECT key, kind, source, datetime(at / 1e6, 'unixepoch') AS at, datetime(last_seen / 1e6, 'unixepoch') AS last_seen, counts,
       seconds
FROM run;

CREATE VIEW tags AS
SELECT subject AS "column", name, denied, confidence, source, stated_by, datetime(at / 1e6, 'unixepoch') AS at, why
FROM tag;

CREATE VIEW usage AS
SELECT node.key AS of, u.day, u.reads, u.writes, u.users, u.run
FROM usage_day AS u JOIN node ON node.id = u.node;
