-- The queries of `neo4j/read.cypher` in SQL, by the same names. Each takes one row of parameters.
-- `{a_table n}` stands for all properties of a node, which become one value `n`; `{lineage e}` likewise for a
-- relationship (of lineage, with its job as `j`). A column's alias may end with the type of its value.

-- name: datasets_by_key
SELECT {a_table n} FROM a_table AS n WHERE n.key = :key

-- What reads `:rows` takes all rows of parameters at once, as JSON.
-- name: dataset_names
SELECT json_group_array(n.key) AS "keys texts", json_group_array(coalesce(d.spelling, d.full_name)) AS "names texts"
FROM json_each(:rows) AS w CROSS JOIN node AS n ON n.key = w.value ->> 'key' CROSS JOIN dataset AS d ON d.id = n.id

-- name: column_spellings
SELECT json_group_array(n.key) AS "keys texts", json_group_array(c.spelling) AS "spellings texts"
FROM json_each(:rows) AS w CROSS JOIN node AS n ON n.key = w.value ->> 'key'
CROSS JOIN dataset_column AS c ON c.id = n.id AND c.spelling IS NOT NULL

-- name: all_datasets
SELECT {a_table n} FROM a_table AS n

-- name: datasets_by_name
SELECT {a_table n} FROM a_table AS n WHERE n.search = :name

-- name: datasets_by_alias
SELECT {a_table n} FROM a_table AS n WHERE n.aliases <> '[]'

-- name: datasets_by_last_parts
SELECT {a_table n} FROM a_table AS n WHERE substr(n.search, -length(:suffix)) = :suffix

-- name: dataset_keys_by_last_parts
SELECT n.key AS key FROM a_table AS n
WHERE EXISTS (SELECT 1 FROM json_each(:suffixes) AS s WHERE substr(n.search, -length(s.value)) = s.value)

-- name: columns_of_dataset
SELECT {a_column n} FROM node AS t JOIN a_column AS n ON n.dataset_id = t.id WHERE t.key = :key

-- name: column_heads
SELECT n.dataset AS dataset, n.path AS path, n.ordinal AS ordinal, n.spelling AS spelling, n.data_type AS data_type,
       n.parent IS NOT NULL AS "nested flag", n.inferred AS "inferred flag"
FROM node AS t JOIN a_column AS n ON n.dataset_id = t.id WHERE t.key = :key AND n.dropped_at IS NULL

-- name: unplaced_columns_of_sources
SELECT DISTINCT {a_column n}
FROM job AS j JOIN writes AS w ON w.job = j.id JOIN dataset AS d ON d.id = w.dataset
JOIN a_column AS n ON n.dataset_id = d.id
WHERE j.file_key IN (SELECT value FROM json_each(:sources)) AND d.schema_at IS NOT NULL
  AND n.ordinal IS NULL AND n.inferred = 0 AND n.dropped_at IS NULL

-- name: edges_out_of_column
SELECT a.key AS source, o.key AS from_dataset, b.key AS target, t.key AS output, {lineage e}
FROM node AS a JOIN node AS o ON o.id = a.dataset JOIN lineage AS e ON e.source = a.id AND e.kind IN (<any_edge>)
JOIN node AS b ON b.id = e.target AND b.id <> b.dataset JOIN node AS t ON t.id = b.dataset
JOIN job_key AS j ON j.id = e.job
WHERE a.key = :key

-- name: row_edges_out_of_column
SELECT a.key AS source, o.key AS from_dataset, b.key AS target, b.key AS output, {lineage e}
FROM node AS a JOIN node AS o ON o.id = a.dataset JOIN lineage AS e ON e.source = a.id AND e.kind IN (<any_reference>)
JOIN node AS b ON b.id = e.target AND b.id = b.dataset JOIN job_key AS j ON j.id = e.job
WHERE a.key = :key

-- name: edges_into_column
SELECT a.key AS source, o.key AS from_dataset, b.key AS target, t.key AS output, {lineage e}
FROM node AS b JOIN node AS t ON t.id = b.dataset JOIN lineage AS e ON e.target = b.id AND e.kind IN (<any_edge>)
JOIN node AS a ON a.id = e.source JOIN node AS o ON o.id = a.dataset JOIN job_key AS j ON j.id = e.job
WHERE b.key = :key

-- name: jobs_by_key
SELECT {a_job n} FROM json_each(:rows) AS w CROSS JOIN a_job AS n ON n.key = w.value ->> 'key'

-- name: all_jobs
SELECT {a_job n} FROM a_job AS n

-- name: jobs_by_source
SELECT {a_job n} FROM a_job AS n WHERE n.file_key IN (SELECT value FROM json_each(:sources))
UNION ALL
SELECT {a_job n} FROM a_job AS n WHERE n.file_key IS NULL AND n.source IN (SELECT value FROM json_each(:sources))

-- name: job_heads
SELECT n.key AS key, n.kind AS kind, n.source AS source, n.file_key AS file_key, n.dialect AS dialect,
       n.first_seen AS "first_seen time", n.retired_at AS "retired_at time"
FROM a_job AS n
WHERE (:retired OR n.retired_at IS NULL) AND (:kinds = '[]' OR n.kind IN (SELECT value FROM json_each(:kinds)))

-- name: job_heads_of_files
SELECT n.key AS key, n.kind AS kind, n.source AS source, n.file_key AS file_key, n.dialect AS dialect,
       n.first_seen AS "first_seen time", n.retired_at AS "retired_at time"
FROM a_job AS n
WHERE n.file_key >= :beginning AND n.file_key < :beginning || char(1114111) AND (:retired OR n.retired_at IS NULL)
  AND (:kinds = '[]' OR n.kind IN (SELECT value FROM json_each(:kinds)))

-- name: diagnosed_files
SELECT DISTINCT n.file_key AS file_key FROM diagnostic AS n
WHERE n.file_key >= :beginning AND n.file_key < :beginning || char(1114111)

-- name: jobs_writing_namespace
SELECT DISTINCT j.key AS job FROM dataset AS t JOIN writes AS w ON w.dataset = t.id JOIN job_key AS j ON j.id = w.job
WHERE t.namespace = :namespace

-- name: jobs_reading_namespace
SELECT DISTINCT j.key AS job FROM dataset AS t JOIN reads AS r ON r.dataset = t.id JOIN job_key AS j ON j.id = r.job
WHERE t.namespace = :namespace

-- name: datasets_of_retired_jobs
SELECT t.key AS dataset, t.last_seen AS "last_seen time", max(n.retired_at) AS "retired_at time"
FROM job AS n JOIN (SELECT job, dataset FROM reads UNION ALL SELECT job, dataset FROM writes) AS e ON e.job = n.id
JOIN a_table AS t ON t.id = e.dataset
WHERE n.retired_at IS NOT NULL GROUP BY t.key

-- name: datasets_of_live_jobs
SELECT t.key AS dataset FROM node AS t
WHERE t.key = :key AND (
  EXISTS (SELECT 1 FROM reads AS e JOIN job AS n ON n.id = e.job WHERE e.dataset = t.id AND n.retired_at IS NULL)
  OR EXISTS (SELECT 1 FROM writes AS e JOIN job AS n ON n.id = e.job WHERE e.dataset = t.id AND n.retired_at IS NULL))

-- name: jobs_touching_dataset
SELECT j.key AS job FROM node AS t JOIN reads AS e ON e.dataset = t.id JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key
UNION
SELECT j.key AS job FROM node AS t JOIN writes AS e ON e.dataset = t.id JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: units_that_only_add
SELECT n.key AS job, t.key AS output
FROM a_job AS n JOIN writes AS w ON w.job = n.id JOIN node AS t ON t.id = w.dataset WHERE n.kind = 'query'

-- name: reads_of_job
SELECT j.key AS job, t.key AS dataset, {reads e}
FROM job_key AS j JOIN reads AS e ON e.job = j.id JOIN node AS t ON t.id = e.dataset WHERE j.key = :key

-- name: writes_of_job
SELECT j.key AS job, t.key AS dataset, {writes e}
FROM job_key AS j JOIN writes AS e ON e.job = j.id JOIN node AS t ON t.id = e.dataset WHERE j.key = :key

-- name: times_of_outputs
SELECT j.key AS job, t.key AS dataset, coalesce(e.last_seen, n.last_seen) AS "last_seen time"
FROM job_key AS j JOIN job AS n ON n.id = j.id JOIN writes AS e ON e.job = j.id JOIN node AS t ON t.id = e.dataset
WHERE j.key = :key

-- name: observed_of_job
SELECT r.key AS run, j.key AS job, {observed e}
FROM job_key AS j JOIN observed AS e ON e.job = j.id JOIN run AS r ON r.id = e.run WHERE j.key = :key

-- name: counts_of_job
SELECT j.key AS job, e.observations AS observations, e.duration_us AS duration_us
FROM job_key AS j JOIN observed AS e ON e.job = j.id WHERE j.key = :key

-- name: users_of_job
SELECT j.key AS job, e.users AS "users texts", e.user_queries AS "user_queries integers", e.other_users AS other_users,
       e.other_queries AS other_queries
FROM job_key AS j JOIN observed AS e ON e.job = j.id WHERE j.key = :key

-- name: observed_in_run
SELECT r.key AS run, j.key AS job, {observed e}
FROM run AS r JOIN job_key AS j JOIN observed AS e ON e.run = r.id AND e.job = j.id WHERE r.key = :run AND j.key = :key

-- name: observed_by_run
SELECT r.key AS run, j.key AS job, {observed e}
FROM run AS r JOIN observed AS e ON e.run = r.id JOIN job_key AS j ON j.id = e.job WHERE r.key = :key

-- name: edges_of_units
SELECT a.key AS source, o.key AS from_dataset, b.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN node AS b ON b.dataset = t.id AND b.id <> t.id
JOIN lineage AS e ON e.target = b.id AND e.kind IN (<any_edge>)
JOIN job_key AS j ON j.id = e.job JOIN node AS a ON a.id = e.source JOIN node AS o ON o.id = a.dataset
WHERE t.key = :output AND e.job IN (SELECT k.id FROM json_each(:jobs) AS w JOIN job_key AS k ON k.key = w.value)

-- name: row_edges_of_units
SELECT a.key AS source, o.key AS from_dataset, t.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.target = t.id AND e.kind IN (<any_reference>)
JOIN job_key AS j ON j.id = e.job JOIN node AS a ON a.id = e.source JOIN node AS o ON o.id = a.dataset
WHERE t.key = :output AND e.job IN (SELECT k.id FROM json_each(:jobs) AS w JOIN job_key AS k ON k.key = w.value)

-- name: feeds_of_units
SELECT a.key AS source, a.key AS from_dataset, t.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.target = t.id AND e.kind IN (<any_feed>)
JOIN job_key AS j ON j.id = e.job JOIN node AS a ON a.id = e.source
WHERE t.key = :output AND e.job IN (SELECT k.id FROM json_each(:jobs) AS w JOIN job_key AS k ON k.key = w.value)

-- name: edges_into_dataset
SELECT a.key AS source, o.key AS from_dataset, b.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN node AS b ON b.dataset = t.id AND b.id <> t.id
JOIN lineage AS e ON e.target = b.id AND e.kind IN (<any_edge>)
JOIN node AS a ON a.id = e.source JOIN node AS o ON o.id = a.dataset JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: row_edges_into_dataset
SELECT a.key AS source, o.key AS from_dataset, t.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.target = t.id AND e.kind IN (<any_reference>)
JOIN node AS a ON a.id = e.source JOIN node AS o ON o.id = a.dataset JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key AND t.id = t.dataset

-- name: feeds_into_dataset
SELECT a.key AS source, a.key AS from_dataset, t.key AS target, t.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.target = t.id AND e.kind IN (<any_feed>)
JOIN node AS a ON a.id = e.source JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: edges_out_of_dataset
SELECT a.key AS source, t.key AS from_dataset, b.key AS target, o.key AS output, {lineage e}
FROM node AS t JOIN node AS a ON a.dataset = t.id AND a.id <> t.id
JOIN lineage AS e ON e.source = a.id AND e.kind IN (<any_edge>)
JOIN node AS b ON b.id = e.target AND b.id <> b.dataset JOIN node AS o ON o.id = b.dataset
JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: row_edges_out_of_dataset
SELECT a.key AS source, t.key AS from_dataset, b.key AS target, b.key AS output, {lineage e}
FROM node AS t JOIN node AS a ON a.dataset = t.id AND a.id <> t.id
JOIN lineage AS e ON e.source = a.id AND e.kind IN (<any_reference>)
JOIN node AS b ON b.id = e.target AND b.id = b.dataset JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: table_edges_out_of_dataset
SELECT t.key AS source, t.key AS from_dataset, b.key AS target, o.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.source = t.id AND e.kind IN (<any_reference>)
JOIN node AS b ON b.id = e.target JOIN node AS o ON o.id = b.dataset JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key AND t.id = t.dataset

-- name: feeds_out_of_dataset
SELECT t.key AS source, t.key AS from_dataset, b.key AS target, b.key AS output, {lineage e}
FROM node AS t JOIN lineage AS e ON e.source = t.id AND e.kind IN (<any_feed>)
JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job
WHERE t.key = :key

-- name: changes_since
SELECT {change n} FROM change AS n WHERE n.at >= :at AND n.kind <> 'alias'

-- name: renames_and_swaps
SELECT {change n} FROM change AS n WHERE n.kind IN ('rename', 'swap', 'former_name')

-- name: any_alias
SELECT n.key AS key FROM change AS n WHERE n.kind = 'alias' LIMIT 1

-- name: aliases_by_key
SELECT n.dataset AS dataset, n.other AS other FROM change AS n WHERE n.key = :key

-- name: aliases_of
SELECT n.dataset AS dataset, n.other AS other FROM change AS n WHERE n.other = :key AND n.kind = 'alias'

-- name: prunes_by_key
SELECT {prune n} FROM prune AS n WHERE n.key = :key

-- name: tagged_columns
SELECT {a_column n} FROM a_column AS n
WHERE n.id IN (SELECT id FROM dataset_column WHERE tags <> '[]' OR source_tags IS NOT NULL) AND n.dropped_at IS NULL

-- name: tags_by_key
SELECT {tag n} FROM tag AS n WHERE n.key = :key

-- name: tags_of
SELECT {tag n} FROM tag AS n WHERE n.subject = :key

-- name: all_tags
SELECT {tag n} FROM tag AS n

-- name: prunes_since
SELECT {prune n} FROM prune AS n WHERE n.older_than > :at

-- name: runs_by_key
SELECT {run n} FROM run AS n WHERE n.key = :key

-- name: runs_seen_after
SELECT {run n} FROM run AS n WHERE n.last_seen > :at AND n.complete_sources <> '[]'

-- name: latest_runs
SELECT {run n} FROM run AS n ORDER BY n.last_seen DESC, n.key LIMIT :limit

-- name: any_diagnostic
SELECT n.key AS key FROM diagnostic AS n LIMIT 1

-- name: diagnostics_of_job
SELECT {diagnostic n} FROM job_key AS j JOIN diagnostic AS n ON n.about = j.id WHERE j.key = :key

-- name: diagnostics_of_origins
SELECT {diagnostic n} FROM diagnostic AS n WHERE n.file_key IN (SELECT value FROM json_each(:sources))
UNION ALL
SELECT {diagnostic n} FROM diagnostic AS n
WHERE n.file_key IS NULL AND n.source IN (SELECT value FROM json_each(:sources))

-- name: diagnostics_of_sources
SELECT {diagnostic n} FROM diagnostic AS n WHERE n.source IN (SELECT value FROM json_each(:sources))

-- name: all_diagnostics
SELECT {diagnostic n} FROM diagnostic AS n

-- name: usage_keys
SELECT n.key AS key FROM usage_day AS n WHERE n.key = :key

-- name: usage_of_dataset_by_key
SELECT {usage_day n}, o.key AS of FROM usage_day AS n JOIN node AS o ON o.id = n.node
WHERE n.key = :key AND o.id = o.dataset

-- name: usage_of_column_by_key
SELECT {usage_day n}, o.key AS of FROM usage_day AS n JOIN node AS o ON o.id = n.node
WHERE n.key = :key AND o.id <> o.dataset

-- name: usage_of_dataset
SELECT {usage_day n}, o.key AS of FROM node AS o JOIN usage_day AS n ON n.node = o.id WHERE o.key = :key

-- name: usage_of_dataset_between
SELECT {usage_day n}, o.key AS of FROM node AS o JOIN usage_day AS n ON n.node = o.id
WHERE o.key = :key AND n.day >= :since AND n.day <= :until

-- name: usage_of_column_between
SELECT {usage_day n}, o.key AS of FROM node AS o JOIN usage_day AS n ON n.node = o.id
WHERE o.key = :key AND n.day >= :since AND n.day <= :until

-- name: used_columns
SELECT DISTINCT o.key AS of FROM node AS o JOIN usage_day AS n ON n.node = o.id WHERE o.key = :key

-- name: usage_within_dataset
SELECT {usage_day n}, c.key AS of
FROM node AS t JOIN node AS c ON c.dataset = t.id AND c.id <> t.id JOIN usage_day AS n ON n.node = c.id
WHERE t.key = :key

-- name: fields_of_column
SELECT f.parent AS asked, f.key AS found
FROM json_each(:rows) AS w CROSS JOIN a_column AS f ON f.parent = w.value ->> 'key'

-- name: parent_of_column
SELECT c.key AS asked, c.parent AS found
FROM json_each(:rows) AS w CROSS JOIN a_column AS c ON c.key = w.value ->> 'key'
WHERE c.parent IS NOT NULL

-- name: out_of_column
SELECT a.key AS asked, a.key AS source, b.key AS target, {lineage e}
FROM json_each(:rows) AS w CROSS JOIN node AS a ON a.key = w.value ->> 'key'
CROSS JOIN lineage AS e ON e.source = a.id AND e.kind IN (<types>)
CROSS JOIN node AS b ON b.id = e.target CROSS JOIN job_key AS j ON j.id = e.job
WHERE a.id <> a.dataset

-- name: out_of_dataset
SELECT a.key AS asked, a.key AS source, b.key AS target, {lineage e}
FROM json_each(:rows) AS w CROSS JOIN node AS a ON a.key = w.value ->> 'key'
CROSS JOIN lineage AS e ON e.source = a.id AND e.kind IN (<types>)
CROSS JOIN node AS b ON b.id = e.target CROSS JOIN job_key AS j ON j.id = e.job
WHERE a.id = a.dataset

-- name: into_column
SELECT b.key AS asked, a.key AS source, b.key AS target, {lineage e}
FROM json_each(:rows) AS w CROSS JOIN node AS b ON b.key = w.value ->> 'key'
CROSS JOIN lineage AS e ON e.target = b.id AND e.kind IN (<types>)
CROSS JOIN node AS a ON a.id = e.source CROSS JOIN job_key AS j ON j.id = e.job
WHERE b.id <> b.dataset

-- name: into_dataset
SELECT b.key AS asked, a.key AS source, b.key AS target, {lineage e}
FROM json_each(:rows) AS w CROSS JOIN node AS b ON b.key = w.value ->> 'key'
CROSS JOIN lineage AS e ON e.target = b.id AND e.kind IN (<types>)
CROSS JOIN node AS a ON a.id = e.source CROSS JOIN job_key AS j ON j.id = e.job
WHERE b.id = b.dataset

-- name: edges_of_pairs
SELECT a.key AS source, b.key AS target, {lineage e}
FROM json_each(:rows) AS w CROSS JOIN node AS a ON a.key = w.value ->> 'source'
CROSS JOIN node AS b ON b.key = w.value ->> 'target'
CROSS JOIN lineage AS e ON e.source = a.id AND e.target = b.id AND e.kind IN (<types>)
CROSS JOIN job_key AS j ON j.id = e.job

-- name: steps
SELECT a.key AS source, b.key AS target, j.key AS job, e.subtypes AS "subtypes texts", e.masking AS "masking flag",
       e.spans AS "spans texts", e.partly_masking AS "partly_masking texts"
FROM json_each(:rows) AS w CROSS JOIN node AS a ON a.key = w.value ->> 'source'
CROSS JOIN node AS b ON b.key = w.value ->> 'target'
CROSS JOIN lineage AS e ON e.source = a.id AND e.target = b.id AND e.kind IN (<types>)
CROSS JOIN job_key AS j ON j.id = e.job
WHERE true <when>

-- name: steps_then
SELECT :source AS source, :target AS target, j.key AS job, e.subtypes AS "subtypes texts", e.masking AS "masking flag",
       e.spans AS "spans texts", e.partly_masking AS "partly_masking texts", e.until AS "until time"
FROM node AS a JOIN node AS b JOIN lineage AS e ON e.source = a.id AND e.target = b.id AND e.kind IN (<types>)
JOIN job_key AS j ON j.id = e.job
WHERE a.key = :source AND b.key = :target <when>

-- name: feed_keys_out_of
SELECT DISTINCT a.key AS source, b.key AS target, j.key AS job
FROM node AS a JOIN lineage AS e ON e.source = a.id AND e.kind IN (<types>)
JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job
WHERE a.key = :key <when>

-- name: fed_tables
SELECT json_group_array(source) AS "sources texts", json_group_array(target) AS "targets texts"
FROM (SELECT DISTINCT a.key AS source, b.key AS target
      FROM dataset AS d JOIN lineage AS e ON e.source = d.id AND e.kind IN (<types>)
      JOIN node AS a ON a.id = d.id JOIN node AS b ON b.id = e.target)

-- name: feed_keys_into
SELECT DISTINCT a.key AS source, b.key AS target, j.key AS job
FROM node AS b JOIN lineage AS e ON e.target = b.id AND e.kind IN (<types>)
JOIN node AS a ON a.id = e.source JOIN job_key AS j ON j.id = e.job
WHERE b.key = :key <when>

-- name: jobs_resolved
SELECT n.key AS job FROM a_job AS n WHERE n.key = :key AND n.completeness = 'full'

-- name: stated_between_columns
SELECT DISTINCT o.key AS source, t.key AS target, j.key AS job
FROM node AS t JOIN node AS b ON b.dataset = t.id AND b.id <> t.id
JOIN lineage AS e ON e.target = b.id AND e.kind IN (<types>)
JOIN node AS a ON a.id = e.source AND a.id <> a.dataset JOIN node AS o ON o.id = a.dataset
JOIN job_key AS j ON j.id = e.job
WHERE t.key = :target AND j.key IN (SELECT value FROM json_each(:jobs)) <when>

-- name: stated_of_rows
SELECT DISTINCT o.key AS source, t.key AS target, j.key AS job
FROM node AS t JOIN lineage AS e ON e.target = t.id AND e.kind IN (<types>)
JOIN node AS a ON a.id = e.source AND a.id <> a.dataset JOIN node AS o ON o.id = a.dataset
JOIN job_key AS j ON j.id = e.job
WHERE t.key = :target AND j.key IN (SELECT value FROM json_each(:jobs)) <when>

-- name: then
AND (e.since = :at OR (e.since < :at AND (e.until IS NULL OR :at < e.until)))

-- name: feeds_out_of
SELECT a.key AS source, b.key AS target, {lineage e}
FROM node AS a JOIN lineage AS e ON e.source = a.id AND e.kind IN (<types>)
JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job
WHERE a.key = :key

-- name: feeds_into
SELECT a.key AS source, b.key AS target, {lineage e}
FROM node AS b JOIN lineage AS e ON e.target = b.id AND e.kind IN (<types>)
JOIN node AS a ON a.id = e.source JOIN job_key AS j ON j.id = e.job
WHERE b.key = :key

-- name: columns_by_key
SELECT {a_column n} FROM a_column AS n WHERE n.key = :key

-- name: jobs_after
SELECT n.key AS key FROM a_job AS n
WHERE n.key > :after AND (:kinds = '[]' OR n.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:retired OR n.retired_at IS NULL)
ORDER BY n.key
LIMIT :limit

-- name: readers_of_dataset
SELECT t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS "retired flag",
       e.last_seen IS NULL AS "still flag"
FROM node AS t JOIN reads AS e ON e.dataset = t.id JOIN a_job AS n ON n.id = e.job WHERE t.key = :key

-- name: writers_of_dataset
SELECT t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS "retired flag", {writes e}
FROM node AS t JOIN writes AS e ON e.dataset = t.id JOIN a_job AS n ON n.id = e.job WHERE t.key = :key

-- name: diagnostics_after
SELECT {diagnostic n} FROM diagnostic AS n
WHERE n.key > :after AND (:codes = '[]' OR n.code IN (SELECT value FROM json_each(:codes)))
  AND (:severities = '[]' OR n.severity IN (SELECT value FROM json_each(:severities)))
  AND (:sources = '[]' OR n.source IN (SELECT value FROM json_each(:sources)))
ORDER BY n.key
LIMIT :limit

-- name: edges_changed
SELECT a.key AS source, b.key AS target, {lineage e}
FROM lineage AS e JOIN <to> AS b ON b.id = e.target JOIN node AS a ON a.id = e.source JOIN job_key AS j ON j.id = e.job
WHERE e.kind IN (<type>) AND e.<time> > :since AND e.<time> <= :until AND substr(b.key, 1, length(:scope)) = :scope
LIMIT :limit

-- name: datasets_with_tags
SELECT n.key AS key, coalesce(n.spelling, n.full_name) AS name, n.search AS search FROM a_table AS n
WHERE n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>
ORDER BY length(n.search), n.key
LIMIT :limit

-- name: datasets_with_facts
SELECT {a_table n} FROM a_table AS n WHERE instr(n.facts, :beginning) > 0

-- name: search_datasets
SELECT n.key AS key, coalesce(n.spelling, n.full_name) AS name, n.search AS search FROM a_table AS n
WHERE n.id IN (SELECT id FROM dataset WHERE instr(search, :text) > 0) AND n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>
ORDER BY <rank>, length(n.search), n.key
LIMIT :limit

-- name: search_aliases
SELECT n.key AS key, coalesce(n.spelling, n.full_name) AS name,
       max(CASE WHEN a.alias = :text OR <alias_ends> THEN 3.0 ELSE 1.0 END) AS score
FROM a_table AS n JOIN (SELECT d.id, folded(w.value) AS alias FROM dataset AS d, json_each(d.aliases) AS w) AS a ON a.id = n.id
WHERE n.aliases <> '[]' AND instr(a.alias, :text) > 0 AND instr(n.search, :text) = 0
  AND n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>
GROUP BY n.id
ORDER BY score DESC, length(n.search), n.key
LIMIT :limit

-- name: alias_ends
substr(a.alias, -length(:part)) = :part OR substr(a.alias, -length(:path)) = :path

-- name: rank
CASE WHEN n.search = :text OR substr(n.search, -length(:part)) = :part THEN 0
     WHEN instr(n.search, :text) = 1 OR instr(n.search, :part) > 0 THEN 1 ELSE 2 END

-- name: columns_with_tags
SELECT n.key AS key, coalesce(n.spelling, n.path) AS name, n.search AS search FROM a_column AS n
WHERE n.dropped_at IS NULL AND n.dataset NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>
ORDER BY length(n.search), n.key
LIMIT :limit

-- name: search_columns
SELECT n.key AS key, coalesce(n.spelling, n.path) AS name, n.search AS search FROM a_column AS n
WHERE n.id IN (SELECT id FROM dataset_column WHERE instr(search, :text) > 0) AND n.dropped_at IS NULL
  AND n.dataset NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>
ORDER BY <rank>, length(n.search), n.key
LIMIT :limit

-- name: keys_after
SELECT n.key AS key FROM <label> AS n WHERE n.key > :after ORDER BY n.key LIMIT :limit

-- name: edges_between
SELECT <name_of_kind> AS kind, a.key AS source, b.key AS target, j.key AS job, e.period AS period
FROM node AS a JOIN lineage AS e ON e.source = a.id JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job
WHERE a.key > :after AND a.key <= :until AND (a.id = a.dataset) = :is_table

-- name: edges_at
SELECT <name_of_kind> AS kind, a.key AS source, b.key AS target, j.key AS job, e.period AS period
FROM (
  SELECT e.* FROM node AS n JOIN lineage AS e ON e.source = n.id WHERE n.key = :key
  UNION ALL SELECT e.* FROM node AS n JOIN lineage AS e ON e.target = n.id WHERE n.key = :key) AS e
JOIN node AS a ON a.id = e.source JOIN node AS b ON b.id = e.target JOIN job_key AS j ON j.id = e.job

-- name: name_of_kind
CASE e.kind WHEN 1 THEN 'CONTRIBUTES' WHEN 2 THEN 'REFERENCES' WHEN 3 THEN 'FEEDS'
  WHEN 4 THEN 'CONTRIBUTED' WHEN 5 THEN 'REFERENCED' ELSE 'FED' END

-- name: contents
SELECT sum(value) FILTER (WHERE key = 'tables') AS tables, sum(value) FILTER (WHERE key = 'columns') AS columns,
       sum(value) FILTER (WHERE key = 'jobs') AS jobs, sum(value) FILTER (WHERE key = 'edges') AS edges,
       sum(value) FILTER (WHERE key = 'table_edges') AS table_edges,
       sum(value) FILTER (WHERE key = 'ended_edges') AS ended_edges,
       json_group_array(value) FILTER (WHERE key = 'fingerprint') AS "fingerprints integers"
FROM meta

-- name: nodes_after
SELECT {<label> n} FROM <label> AS n WHERE n.key > :after ORDER BY n.key LIMIT :limit

-- name: relationships_between
SELECT e.source AS source, e.target AS target, {<type> e} FROM (<link>) AS e
WHERE e.source > :after AND e.source <= :until

-- name: dump_nodes
SELECT {<label> n} FROM <label> AS n

-- name: dump_relationships
SELECT e.source AS source, e.target AS target, {<type> e} FROM (<link>) AS e

-- name: buffered_texts_by_key
SELECT {buffered_text n} FROM buffered_text AS n WHERE n.key = :key

-- name: texts_buffered_before
SELECT n.key AS key FROM buffered_text AS n WHERE n.buffered_at < :buffered_at

-- name: finished_texts_buffered_before
SELECT n.key AS key FROM buffered_text AS n WHERE n.buffered_at < :buffered_at AND n.finished

-- name: all_job_keys
SELECT n.key AS key FROM a_job AS n

-- name: live_datasets
SELECT n.key AS key, d.namespace AS namespace, d.full_name AS name, d.kind AS kind, d.facts AS facts,
       d.tags AS "tags texts"
FROM node AS n JOIN dataset AS d ON d.id = n.id WHERE d.dropped_at IS NULL

-- Of tables whose names are equal up to the last dot, one name. A last part with quotes may have dots: then the name itself.
-- name: schema_counts
SELECT namespace, min(full_name) AS name, count(*) AS tables, sum(kind = 'exposure') AS exposures
FROM dataset WHERE dropped_at IS NULL
GROUP BY CASE
  WHEN substr(full_name, -1) = '.' OR ((instr(full_name, '"') OR instr(full_name, '`') OR instr(full_name, '[') OR instr(full_name, ']'))
    AND substr(full_name, length(rtrim(full_name, replace(full_name, '.', ''))) + 1) GLOB '*[]["`]*') THEN full_name || '/'
  ELSE rtrim(full_name, replace(full_name, '.', '')) END, namespace

-- name: all_dataset_keys
SELECT n.key AS key FROM node AS n WHERE n.id = n.dataset

-- name: page
SELECT n.key AS key, n.<property> AS "value moment", n.<shown> AS name FROM <pattern>
WHERE <where>
ORDER BY n.<property> <direction>, n.key <key_direction>
LIMIT :limit

-- name: page_count
SELECT count(*) AS number FROM <pattern> WHERE <where>

-- name: page_names
SELECT n.key AS key, n.full_name AS name FROM <pattern> WHERE <where>

-- name: page_of_runs
run AS n

-- name: page_of_jobs
a_job AS n

-- name: page_of_datasets
a_table AS n

-- name: page_of_diagnostics
diagnostic AS n

-- name: page_beyond_key
n.key <sign> :<side>_key

-- name: page_beyond
(n.<property> <sign> :<side>_value OR (n.<property> = :<side>_value AND n.key <key_sign> :<side>_key))

-- name: page_where_kinds
n.kind IN (SELECT value FROM json_each(:kinds))

-- name: page_where_not_retired
n.retired_at IS NULL

-- name: page_where_not_dropped
n.dropped_at IS NULL

-- name: page_where_ran_by
EXISTS (SELECT 1 FROM observed AS e, json_each(e.users) AS w WHERE e.job = n.id AND w.value = :user)

-- name: page_where_project
substr(n.file_key, 1, length(:project)) = :project

-- name: page_where_file
(n.source = :file OR substr(n.source, 1, length(:folder)) = :folder OR instr(n.file_key, :path) > 0
 OR instr(n.file_key, :below) > 0)

-- name: page_where_namespace
n.namespace = :namespace

-- name: page_where_tags
NOT EXISTS (SELECT 1 FROM json_each(:tags) AS w WHERE w.value <> ''
  AND w.value NOT IN (SELECT value FROM json_each(n.tags)) AND w.value NOT IN (SELECT value FROM json_each(n.source_tags))
  AND NOT EXISTS (SELECT 1 FROM tag AS g WHERE g.subject = n.key AND g.name = w.value AND NOT g.denied))

-- name: page_where_codes
n.code IN (SELECT value FROM json_each(:codes))

-- name: page_where_severities
n.severity IN (SELECT value FROM json_each(:severities))

-- name: page_where_source
n.source = :source

-- name: diagnostics_by_key
SELECT {diagnostic n} FROM diagnostic AS n WHERE n.key = :key

-- name: usage_of_datasets
SELECT o.key AS of, sum(n.reads) AS reads, sum(n.writes) AS writes, min(n.day) AS "first_day day",
       max(n.day) AS "last_day day", max(n.last_read) AS "read_at time"
FROM dataset AS d CROSS JOIN usage_day AS n ON n.node = d.id CROSS JOIN node AS o ON o.id = d.id
WHERE n.day >= :since AND n.day <= :until GROUP BY d.id

-- name: count_search_datasets
SELECT count(*) AS number FROM a_table AS n
WHERE n.id IN (SELECT id FROM dataset WHERE instr(search, :text) > 0) AND n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>

-- name: count_search_aliases
SELECT count(DISTINCT n.id) AS number
FROM a_table AS n JOIN (SELECT d.id, folded(w.value) AS alias FROM dataset AS d, json_each(d.aliases) AS w) AS a ON a.id = n.id
WHERE n.aliases <> '[]' AND instr(a.alias, :text) > 0 AND instr(n.search, :text) = 0
  AND n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>

-- name: count_search_columns
SELECT count(*) AS number FROM a_column AS n
WHERE n.id IN (SELECT id FROM dataset_column WHERE instr(search, :text) > 0) AND n.dropped_at IS NULL
  AND n.dataset NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>

-- name: count_datasets_with_tags
SELECT count(*) AS number FROM a_table AS n
WHERE n.key NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>

-- name: count_columns_with_tags
SELECT count(*) AS number FROM a_column AS n
WHERE n.dropped_at IS NULL AND n.dataset NOT IN (SELECT value FROM json_each(:forgotten)) AND <page_where_tags>

-- name: dated_writes_of_jobs
SELECT t.key AS dataset, w.first_seen AS "since time", w.last_seen AS "last_seen time",
       w.observations AS "observations texts", {a_job n}
FROM a_job AS n JOIN writes AS w ON w.job = n.id JOIN node AS t ON t.id = w.dataset
WHERE n.key IN (SELECT value FROM json_each(:jobs)) AND w.last_seen IS NOT NULL

-- name: changes_after
SELECT c.key AS key FROM change AS c WHERE c.at > :at LIMIT 1

-- name: prunes_after
SELECT p.key AS key FROM prune AS p WHERE p.at > :at LIMIT 1

-- name: jobs_seen_after
SELECT n.key AS key FROM a_job AS n
WHERE n.key IN (SELECT value FROM json_each(:jobs)) AND (n.last_seen > :at OR n.retired_at IS NOT NULL) LIMIT 1

-- name: datasets_seen_after
SELECT d.key AS key FROM a_table AS d
WHERE d.key IN (SELECT value FROM json_each(:datasets)) AND d.last_seen > :at LIMIT 1

-- name: datasets_of_jobs_seen_after
SELECT j.key AS key FROM job_key AS j
WHERE j.key IN (SELECT value FROM json_each(:jobs)) AND (
  EXISTS (SELECT 1 FROM reads AS e JOIN dataset AS d ON d.id = e.dataset WHERE e.job = j.id AND d.last_seen > :at)
  OR EXISTS (SELECT 1 FROM writes AS e JOIN dataset AS d ON d.id = e.dataset WHERE e.job = j.id AND d.last_seen > :at))
LIMIT 1

-- Relationships of each type, for `<link>`.
-- name: link_HAS_COLUMN
SELECT c.dataset AS source, c.key AS target FROM a_column AS c

-- name: link_HAS_FIELD
SELECT c.parent AS source, c.key AS target FROM a_column AS c WHERE c.parent IS NOT NULL

-- name: link_lineage
SELECT a.key AS source, b.key AS target, j.key AS job, e.kind, e.since, e.until, e.last_seen, e.masking, e.limited,
       e.ambiguous, e.subtypes, e.partly_masking, e.spans
FROM lineage AS e JOIN node AS a ON a.id = e.source AND a.id <from_is> a.dataset
JOIN node AS b ON b.id = e.target AND b.id <to_is> b.dataset JOIN job_key AS j ON j.id = e.job
WHERE e.kind IN (<type>)

-- name: link_READS
SELECT j.key AS source, t.key AS target, e.*
FROM reads AS e JOIN job_key AS j ON j.id = e.job JOIN node AS t ON t.id = e.dataset

-- name: link_WRITES
SELECT j.key AS source, t.key AS target, e.*
FROM writes AS e JOIN job_key AS j ON j.id = e.job JOIN node AS t ON t.id = e.dataset

-- name: link_OBSERVED
SELECT r.key AS source, j.key AS target, e.*
FROM observed AS e JOIN run AS r ON r.id = e.run JOIN job_key AS j ON j.id = e.job

-- name: link_REPORTED
SELECT r.key AS source, d.key AS target FROM diagnostic AS d JOIN run AS r ON r.id = d.reported_by

-- name: link_ABOUT
SELECT d.key AS source, j.key AS target FROM diagnostic AS d JOIN job_key AS j ON j.id = d.about

-- name: link_OF
SELECT u.key AS source, n.key AS target FROM usage_day AS u JOIN node AS n ON n.id = u.node AND n.id <to_is> n.dataset
