-- Statements that write. Names in < > are replaced with those of tables and columns.

-- name: next_id
SELECT coalesce(max(id), 0) + 1 FROM <table>

-- What the store holds by now: the fingerprint is kept below 2**62.
-- name: add_to_contents
INSERT INTO meta (key, value) VALUES (?1, ?2)
ON CONFLICT (key) DO UPDATE SET value = (value + excluded.value) & 4611686018427387903

-- name: find
SELECT id FROM <table> WHERE key = ?

-- name: add_job_key
INSERT INTO job_key (key) VALUES (?) RETURNING id

-- name: create_key
INSERT INTO node (id, key, dataset) VALUES (?, ?, ?)

-- name: create
INSERT INTO <table> (<columns>) VALUES (<places>)

-- name: put
INSERT OR REPLACE INTO <table> (<columns>) VALUES (<places>)

-- name: update
UPDATE <table> SET <assigned> WHERE id = ?

-- name: delete
DELETE FROM <table> WHERE id = ?

-- name: refer
UPDATE <table> SET <column> = ? WHERE id = ?

-- name: refer_no_more
UPDATE <table> SET <column> = NULL WHERE <column> = ? AND id = ?

-- name: delete_link
DELETE FROM <table> WHERE <source> = ? AND <target> = ?

-- name: put_lineage
INSERT OR REPLACE INTO lineage (
  source, kind, target, job, period, since, until, last_seen, masking, limited, ambiguous, subtypes, partly_masking, spans
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: delete_lineage
DELETE FROM lineage WHERE source = ? AND kind = ? AND target = ? AND job = ? AND period = ?

-- What goes with a node that is deleted.
-- name: delete_lineage_out_of
DELETE FROM lineage WHERE source = ?

-- name: delete_lineage_into
DELETE FROM lineage WHERE target = ?

-- name: neighbours
SELECT n.key FROM node AS n WHERE n.id IN (
  SELECT target FROM lineage WHERE source = ?1 UNION SELECT source FROM lineage WHERE target = ?1)

-- What traversals follow has changed: see `graph_changes.py`.
-- name: record_change
INSERT INTO graph_change (number, keys) SELECT coalesce(max(number), 0) + 1, ?1 FROM graph_change RETURNING number

-- name: forget_changes
DELETE FROM graph_change WHERE number < ?1

-- name: delete_where
DELETE FROM <table> WHERE <column> = ?

-- name: forget_where
UPDATE <table> SET <column> = NULL WHERE <column> = ?

-- Live edges of a unit (a job and one output) that are seen again.
-- name: refresh_edges_to_columns
UPDATE lineage SET last_seen = ?1
WHERE kind = ?2 AND job = ?3 AND target IN (SELECT id FROM node WHERE dataset = ?4 AND id <> ?4)

-- name: refresh_edges_to_dataset
UPDATE lineage SET last_seen = ?1 WHERE kind = ?2 AND job = ?3 AND target = ?4

-- Jobs that were observed again, unchanged since :valid_from.
-- name: see_jobs_again
UPDATE job SET last_seen = :last_seen, observed_at = substr(observed_at, -<size>) || :observed
WHERE id IN (SELECT k.id FROM json_each(:jobs) AS w JOIN job_key AS k ON k.key = w.value)
  AND last_seen = :valid_from AND last_seen < :last_seen

-- What a job still reads has no `last_seen`.
-- name: see_read_datasets_again
UPDATE dataset SET last_seen = :last_seen
WHERE last_seen < :last_seen AND id IN (
  SELECT e.dataset FROM json_each(:jobs) AS w JOIN job_key AS k ON k.key = w.value JOIN job AS j ON j.id = k.id
  JOIN reads AS e ON e.job = j.id WHERE e.last_seen IS NULL AND j.last_seen = :last_seen)

-- name: see_datasets_again
UPDATE dataset SET last_seen = max(last_seen, :last_seen),
  written_at = CASE WHEN written_at = :valid_from THEN :last_seen ELSE written_at END,
  schema_at = CASE WHEN schema_at = :valid_from THEN :last_seen ELSE schema_at END,
  kind_at = CASE WHEN kind_at = :valid_from THEN :last_seen ELSE kind_at END,
  spelled_at = CASE WHEN spelled_at = :valid_from THEN :last_seen ELSE spelled_at END
WHERE id IN (SELECT n.id FROM json_each(:datasets) AS w JOIN node AS n ON n.key = w.value)
