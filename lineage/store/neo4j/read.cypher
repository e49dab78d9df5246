// Queries of Neo4j; `sqlite/read.sql` has those of the same names in SQL. Each takes one row of parameters, and is
// prefixed with UNWIND. `e` is always a whole relationship, `n` a whole node.

// name: datasets_by_key
MATCH (n:`Table` {key: $key}) RETURN n

// Returns one record on Neo4j, for any number of datasets: there, a record costs more than its content.
// name: dataset_names
MATCH (t:`Table` {key: $key}) RETURN collect(t.key) AS keys, collect(coalesce(t.spelling, t.full_name)) AS names

// name: column_spellings
MATCH (n:`Column` {key: $key}) WHERE n.spelling IS NOT NULL
RETURN collect(n.key) AS keys, collect(n.spelling) AS spellings

// name: all_datasets
MATCH (n:`Table`) RETURN n

// name: datasets_by_name
MATCH (n:`Table`) WHERE n.search = $name RETURN n

// name: datasets_by_alias
MATCH (n:`Table`) WHERE size(n.aliases) > 0 RETURN n

// name: datasets_by_last_parts
MATCH (n:`Table`) WHERE n.search ENDS WITH $suffix RETURN n

// name: dataset_keys_by_last_parts
MATCH (n:`Table`) WHERE any(suffix IN $suffixes WHERE n.search ENDS WITH suffix) RETURN n.key AS key

// name: columns_of_dataset
MATCH (:`Table` {key: $key})-[:HAS_COLUMN]->(n:`Column`) RETURN n

// name: column_heads
MATCH (t:`Table` {key: $key})-[:HAS_COLUMN]->(n:`Column`) WHERE n.dropped_at IS NULL
RETURN t.key AS dataset, n.path AS path, n.ordinal AS ordinal, n.spelling AS spelling, n.data_type AS data_type,
       n.parent IS NOT NULL AS nested, n.inferred AS inferred

// name: unplaced_columns_of_sources
MATCH (j:Job)-[:WRITES]->(d:`Table`)-[:HAS_COLUMN]->(n:`Column`)
WHERE j.file_key IN $sources AND d.schema_at IS NOT NULL
  AND n.ordinal IS NULL AND n.inferred = false AND n.dropped_at IS NULL
RETURN DISTINCT n

// name: edges_out_of_column
MATCH (a:`Column` {key: $key})-[e:<any_edge>]->(b:`Column`)
RETURN a.key AS source, a.dataset AS from_dataset, b.key AS target, b.dataset AS output, e

// name: row_edges_out_of_column
MATCH (a:`Column` {key: $key})-[e:<any_reference>]->(b:`Table`)
RETURN a.key AS source, a.dataset AS from_dataset, b.key AS target, b.key AS output, e

// name: edges_into_column
MATCH (b:`Column` {key: $key})<-[e:<any_edge>]-(a)
RETURN a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, b.key AS target, b.dataset AS output, e

// name: jobs_by_key
MATCH (n:Job {key: $key}) RETURN n

// name: all_jobs
MATCH (n:Job) RETURN n

// name: jobs_by_source
MATCH (n:Job) WHERE n.file_key IN $sources OR (n.file_key IS NULL AND n.source IN $sources) RETURN n

// name: job_heads
MATCH (n:Job)
WHERE ($retired OR n.retired_at IS NULL) AND (size($kinds) = 0 OR n.kind IN $kinds)
RETURN n.key AS key, n.kind AS kind, n.source AS source, n.file_key AS file_key, n.dialect AS dialect,
       n.first_seen AS first_seen, n.retired_at AS retired_at

// name: job_heads_of_files
MATCH (n:Job)
WHERE n.file_key STARTS WITH $beginning AND ($retired OR n.retired_at IS NULL)
  AND (size($kinds) = 0 OR n.kind IN $kinds)
RETURN n.key AS key, n.kind AS kind, n.source AS source, n.file_key AS file_key, n.dialect AS dialect,
       n.first_seen AS first_seen, n.retired_at AS retired_at

// name: diagnosed_files
MATCH (n:Diagnostic) WHERE n.file_key STARTS WITH $beginning RETURN DISTINCT n.file_key AS file_key

// name: jobs_writing_namespace
MATCH (n:Job)-[:WRITES]->(t:`Table`) WHERE t.namespace = $namespace RETURN DISTINCT n.key AS job

// name: jobs_reading_namespace
MATCH (n:Job)-[:READS]->(t:`Table`) WHERE t.namespace = $namespace RETURN DISTINCT n.key AS job

// name: datasets_of_retired_jobs
MATCH (n:Job)-[:READS|WRITES]->(t:`Table`) WHERE n.retired_at IS NOT NULL
RETURN t.key AS dataset, t.last_seen AS last_seen, max(n.retired_at) AS retired_at

// name: datasets_of_live_jobs
MATCH (n:Job)-[:READS|WRITES]->(t:`Table` {key: $key}) WHERE n.retired_at IS NULL RETURN DISTINCT t.key AS dataset

// name: jobs_touching_dataset
MATCH (n:Job)-[:READS|WRITES]->(:`Table` {key: $key}) RETURN DISTINCT n.key AS job

// name: units_that_only_add
MATCH (n:Job)-[:WRITES]->(t:`Table`) WHERE n.kind = 'query' RETURN n.key AS job, t.key AS output

// name: reads_of_job
MATCH (j:Job {key: $key})-[e:READS]->(t:`Table`) RETURN j.key AS job, t.key AS dataset, e

// name: writes_of_job
MATCH (j:Job {key: $key})-[e:WRITES]->(t:`Table`) RETURN j.key AS job, t.key AS dataset, e

// name: times_of_outputs
MATCH (j:Job {key: $key})-[e:WRITES]->(t:`Table`)
RETURN j.key AS job, t.key AS dataset, coalesce(e.last_seen, j.last_seen) AS last_seen

// name: observed_of_job
MATCH (r:Run)-[e:OBSERVED]->(j:Job {key: $key}) RETURN r.key AS run, j.key AS job, e

// name: counts_of_job
MATCH (:Run)-[e:OBSERVED]->(j:Job {key: $key})
RETURN j.key AS job, e.observations AS observations, e.duration_us AS duration_us

// name: users_of_job
MATCH (:Run)-[e:OBSERVED]->(j:Job {key: $key})
RETURN j.key AS job, e.users AS users, e.user_queries AS user_queries, e.other_users AS other_users,
       e.other_queries AS other_queries

// name: observed_in_run
MATCH (r:Run {key: $run})-[e:OBSERVED]->(j:Job {key: $key}) RETURN r.key AS run, j.key AS job, e

// name: observed_by_run
MATCH (r:Run {key: $key})-[e:OBSERVED]->(j:Job) RETURN r.key AS run, j.key AS job, e

// name: edges_of_units
MATCH (t:`Table` {key: $output})-[h:HAS_COLUMN]->(b:`Column`)<-[e:<any_edge>]-(a)
WITH t, b, e, a WHERE e.job IN $jobs
RETURN a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, b.key AS target, t.key AS output, e

// name: row_edges_of_units
MATCH (t:`Table` {key: $output})<-[e:<any_reference>]-(a)
WHERE e.job IN $jobs
RETURN a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, t.key AS target, t.key AS output, e

// name: feeds_of_units
MATCH (t:`Table` {key: $output})<-[e:<any_feed>]-(a:`Table`)
WHERE e.job IN $jobs
RETURN a.key AS source, a.key AS from_dataset, t.key AS target, t.key AS output, e

// name: edges_into_dataset
MATCH (t:`Table` {key: $key})-[h:HAS_COLUMN]->(b:`Column`)<-[e:<any_edge>]-(a)
RETURN a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, b.key AS target, t.key AS output, e

// name: row_edges_into_dataset
MATCH (t:`Table` {key: $key})<-[e:<any_reference>]-(a)
RETURN a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, t.key AS target, t.key AS output, e

// name: feeds_into_dataset
MATCH (t:`Table` {key: $key})<-[e:<any_feed>]-(a:`Table`)
RETURN a.key AS source, a.key AS from_dataset, t.key AS target, t.key AS output, e

// name: edges_out_of_dataset
MATCH (t:`Table` {key: $key})-[h:HAS_COLUMN]->(a:`Column`)-[e:<any_edge>]->(b:`Column`)
RETURN a.key AS source, t.key AS from_dataset, b.key AS target, b.dataset AS output, e

// name: row_edges_out_of_dataset
MATCH (t:`Table` {key: $key})-[h:HAS_COLUMN]->(a:`Column`)-[e:<any_reference>]->(b:`Table`)
RETURN a.key AS source, t.key AS from_dataset, b.key AS target, b.key AS output, e

// name: table_edges_out_of_dataset
MATCH (t:`Table` {key: $key})-[e:<any_reference>]->(b)
RETURN t.key AS source, t.key AS from_dataset, b.key AS target, coalesce(b.dataset, b.key) AS output, e

// name: feeds_out_of_dataset
MATCH (t:`Table` {key: $key})-[e:<any_feed>]->(b:`Table`)
RETURN t.key AS source, t.key AS from_dataset, b.key AS target, b.key AS output, e

// name: changes_since
MATCH (n:Change) WHERE n.at >= $at AND n.kind <> 'alias' RETURN n

// name: renames_and_swaps
MATCH (n:Change) WHERE n.kind IN ['rename', 'swap', 'former_name'] RETURN n

// name: any_alias
MATCH (n:Change {kind: 'alias'}) RETURN n.key AS key LIMIT 1

// name: aliases_by_key
MATCH (n:Change {key: $key}) RETURN n.dataset AS dataset, n.other AS other

// name: aliases_of
MATCH (n:Change {kind: 'alias', other: $key}) RETURN n.dataset AS dataset, n.other AS other

// name: prunes_by_key
MATCH (n:Prune {key: $key}) RETURN n

// name: tagged_columns
MATCH (n:`Column`) WHERE n.dropped_at IS NULL AND (size(n.tags) > 0 OR n.source_tags IS NOT NULL) RETURN n

// name: tags_by_key
MATCH (n:Tag {key: $key}) RETURN n

// name: tags_of
MATCH (n:Tag {subject: $key}) RETURN n

// name: all_tags
MATCH (n:Tag) RETURN n

// name: prunes_since
MATCH (n:Prune) WHERE n.older_than > $at RETURN n

// name: runs_by_key
MATCH (n:Run {key: $key}) RETURN n

// name: runs_seen_after
MATCH (n:Run) WHERE n.last_seen > $at AND size(n.complete_sources) > 0 RETURN n

// name: latest_runs
MATCH (n:Run) RETURN n ORDER BY n.last_seen DESC, n.key LIMIT $limit

// name: any_diagnostic
MATCH (n:Diagnostic) RETURN n.key AS key LIMIT 1

// name: diagnostics_of_job
MATCH (n:Diagnostic)-[:ABOUT]->(:Job {key: $key}) RETURN n

// name: diagnostics_of_origins
MATCH (n:Diagnostic) WHERE n.file_key IN $sources OR (n.file_key IS NULL AND n.source IN $sources) RETURN n

// name: diagnostics_of_sources
MATCH (n:Diagnostic) WHERE n.source IN $sources RETURN n

// name: all_diagnostics
MATCH (n:Diagnostic) RETURN n

// name: usage_keys
MATCH (n:Usage {key: $key}) RETURN n.key AS key

// name: usage_of_dataset_by_key
MATCH (n:Usage {key: $key})-[:OF]->(o:`Table`) RETURN n, o.key AS of

// name: usage_of_column_by_key
MATCH (n:Usage {key: $key})-[:OF]->(o:`Column`) RETURN n, o.key AS of

// name: usage_of_dataset
MATCH (n:Usage)-[:OF]->(o:`Table` {key: $key}) RETURN n, o.key AS of

// name: usage_of_dataset_between
MATCH (n:Usage)-[:OF]->(o:`Table` {key: $key}) WITH n, o WHERE n.day >= $since AND n.day <= $until
RETURN n, o.key AS of

// name: usage_of_column_between
MATCH (n:Usage)-[:OF]->(o:`Column` {key: $key}) WITH n, o WHERE n.day >= $since AND n.day <= $until
RETURN n, o.key AS of

// name: used_columns
MATCH (:Usage)-[:OF]->(o:`Column` {key: $key}) RETURN DISTINCT o.key AS of

// name: usage_within_dataset
MATCH (:`Table` {key: $key})-[:HAS_COLUMN]->(c:`Column`)<-[:OF]-(n:Usage) RETURN n, c.key AS of

// name: fields_of_column
MATCH (c:`Column` {key: $key})-[h:HAS_FIELD]->(f:`Column`)
RETURN c.key AS asked, f.key AS found

// name: parent_of_column
MATCH (c:`Column` {key: $key})<-[h:HAS_FIELD]-(f:`Column`)
RETURN c.key AS asked, f.key AS found

// name: out_of_column
MATCH (a:`Column` {key: $key})-[e:<types>]->(b)
RETURN a.key AS asked, a.key AS source, b.key AS target, e

// name: out_of_dataset
MATCH (a:`Table` {key: $key})-[e:<types>]->(b)
RETURN a.key AS asked, a.key AS source, b.key AS target, e

// name: into_column
MATCH (b:`Column` {key: $key})<-[e:<types>]-(a)
RETURN b.key AS asked, a.key AS source, b.key AS target, e

// name: into_dataset
MATCH (b:`Table` {key: $key})<-[e:<types>]-(a)
RETURN b.key AS asked, a.key AS source, b.key AS target, e

// name: edges_of_pairs
MATCH (b:<to> {key: $target})<-[e:<types>]-(a:<from> {key: $source})
RETURN $source AS source, $target AS target, e

// name: steps
MATCH (b:<to> {key: $target})<-[e:<types>]-(a:<from> {key: $source}) <when>
RETURN $source AS source, $target AS target, e.job AS job, e.subtypes AS subtypes, e.masking AS masking,
       e.spans AS spans, e.partly_masking AS partly_masking

// name: steps_then
MATCH (b:<to> {key: $target})<-[e:<types>]-(a:<from> {key: $source}) <when>
RETURN $source AS source, $target AS target, e.job AS job, e.subtypes AS subtypes, e.masking AS masking,
       e.spans AS spans, e.partly_masking AS partly_masking, e.valid_to AS until

// name: feed_keys_out_of
MATCH (a:`Table` {key: $key})-[e:<types>]->(b:`Table`) <when>
RETURN DISTINCT a.key AS source, b.key AS target, e.job AS job

// name: fed_tables
MATCH (a:`Table`)-[:<types>]->(b:`Table`)
WITH DISTINCT a, b
RETURN collect(a.key) AS sources, collect(b.key) AS targets

// name: feed_keys_into
MATCH (b:`Table` {key: $key})<-[e:<types>]-(a:`Table`) <when>
RETURN DISTINCT a.key AS source, b.key AS target, e.job AS job

// name: jobs_resolved
MATCH (j:Job {key: $key}) WHERE j.completeness = 'full' RETURN j.key AS job

// name: stated_between_columns
MATCH (t:`Table` {key: $target})-[h:HAS_COLUMN]->(b:`Column`)<-[e:<types>]-(a:`Column`) <when>
WITH t, e, a WHERE e.job IN $jobs
RETURN DISTINCT a.dataset AS source, t.key AS target, e.job AS job

// name: stated_of_rows
MATCH (t:`Table` {key: $target})<-[e:<types>]-(a:`Column`) <when>
WITH t, e, a WHERE e.job IN $jobs
RETURN DISTINCT a.dataset AS source, t.key AS target, e.job AS job

// Condition for `<when>`: edge `e` was valid at time `$at`.
// name: then
 WHERE coalesce(e.valid_from, e.first_seen) = $at
   OR (coalesce(e.valid_from, e.first_seen) < $at AND (e.valid_to IS NULL OR $at < e.valid_to))

// name: feeds_out_of
MATCH (a:`Table` {key: $key})-[e:<types>]->(b:`Table`) RETURN a.key AS source, b.key AS target, e

// name: feeds_into
MATCH (b:`Table` {key: $key})<-[e:<types>]-(a:`Table`) RETURN a.key AS source, b.key AS target, e

// name: columns_by_key
MATCH (n:`Column` {key: $key}) RETURN n

// name: jobs_after
MATCH (n:Job)
WHERE n.key > $after AND (size($kinds) = 0 OR n.kind IN $kinds) AND ($retired OR n.retired_at IS NULL)
RETURN n.key AS key
ORDER BY n.key
LIMIT $limit

// name: readers_of_dataset
MATCH (n:Job)-[e:READS]->(t:`Table` {key: $key})
RETURN t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS retired, e.last_seen IS NULL AS still

// name: writers_of_dataset
MATCH (n:Job)-[e:WRITES]->(t:`Table` {key: $key})
RETURN t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS retired, e

// name: diagnostics_after
MATCH (n:Diagnostic)
WHERE n.key > $after AND (size($codes) = 0 OR n.code IN $codes) AND (size($severities) = 0 OR n.severity IN $severities)
  AND (size($sources) = 0 OR n.source IN $sources)
RETURN n
ORDER BY n.key
LIMIT $limit

// name: edges_changed
MATCH (a)-[e:<type>]->(b:<to>)
WHERE e.<time> > $since AND e.<time> <= $until AND b.key STARTS WITH $scope
RETURN a.key AS source, b.key AS target, e
LIMIT $limit

// name: datasets_with_tags
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND all(tag IN $tags WHERE tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN n.key AS key, coalesce(n.spelling, n.full_name) AS name, n.search AS search
ORDER BY size(n.search), n.key
LIMIT $limit

// name: datasets_with_facts
MATCH (n:`Table`) WHERE n.facts CONTAINS $beginning RETURN n

// name: search_datasets
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND n.search CONTAINS $text AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN n.key AS key, coalesce(n.spelling, n.full_name) AS name, n.search AS search
ORDER BY CASE WHEN n.search = $text OR n.search ENDS WITH $part THEN 0
              WHEN n.search STARTS WITH $text OR n.search CONTAINS $part THEN 1 ELSE 2 END, size(n.search), n.key
LIMIT $limit

// name: search_aliases
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND size(n.aliases) > 0 AND NOT n.search CONTAINS $text AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
UNWIND n.aliases AS alias
WITH n, toLower(alias) AS alias
WHERE alias CONTAINS $text
WITH n, max(CASE WHEN alias = $text OR alias ENDS WITH $part OR alias ENDS WITH $path THEN 3.0 ELSE 1.0 END) AS score
RETURN n.key AS key, coalesce(n.spelling, n.full_name) AS name, score
ORDER BY score DESC, size(n.search), n.key
LIMIT $limit

// name: columns_with_tags
MATCH (n:`Column`)
WHERE NOT n.dataset IN $forgotten AND all(tag IN $tags WHERE tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied }) AND n.dropped_at IS NULL
RETURN n.key AS key, coalesce(n.spelling, n.path) AS name, n.search AS search
ORDER BY size(n.search), n.key
LIMIT $limit

// name: search_columns
MATCH (n:`Column`)
WHERE NOT n.dataset IN $forgotten AND n.search CONTAINS $text AND n.dropped_at IS NULL AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN n.key AS key, coalesce(n.spelling, n.path) AS name, n.search AS search
ORDER BY CASE WHEN n.search = $text OR n.search ENDS WITH $part THEN 0
              WHEN n.search STARTS WITH $text OR n.search CONTAINS $part THEN 1 ELSE 2 END, size(n.search), n.key
LIMIT $limit

// name: keys_after
MATCH (n:<label>) WHERE n.key > $after RETURN n.key AS key ORDER BY key LIMIT $limit

// name: edges_between
MATCH (a:<label>)-[e:<lineage>]->(b) WHERE a.key > $after AND a.key <= $until
RETURN type(e) AS kind, a.key AS source, b.key AS target, e.job AS job,
       coalesce(e.valid_from.epochSeconds * 1000000 + e.valid_from.microsecond, 0) AS period

// name: edges_at
MATCH (n:<label> {key: $key})-[e:<lineage>]-()
RETURN type(e) AS kind, startNode(e).key AS source, endNode(e).key AS target, e.job AS job,
       coalesce(e.valid_from.epochSeconds * 1000000 + e.valid_from.microsecond, 0) AS period

// name: contents
MATCH (n:Meta) WHERE n.key STARTS WITH 'contents '
RETURN sum(n.tables) AS tables, sum(n.columns) AS columns, sum(n.jobs) AS jobs, sum(n.edges) AS edges,
       sum(n.table_edges) AS table_edges, sum(n.ended_edges) AS ended_edges, collect(n.fingerprint) AS fingerprints

// name: nodes_after
MATCH (n:<label>) WHERE n.key > $after RETURN n ORDER BY n.key LIMIT $limit

// name: relationships_between
MATCH (a:<from>)-[e:<type>]->(b:<to>) WHERE a.key > $after AND a.key <= $until
RETURN a.key AS source, b.key AS target, e

// name: dump_nodes
MATCH (n:<label>) RETURN n

// name: dump_relationships
MATCH (a:<from>)-[e:<type>]->(b:<to>) RETURN a.key AS source, b.key AS target, e

// name: schema_version
MATCH (n:Meta {key: 'schema'}) RETURN n.version AS version

// name: buffered_texts_by_key
MATCH (n:BufferedText {key: $key}) RETURN n

// name: texts_buffered_before
MATCH (n:BufferedText) WHERE n.buffered_at < $buffered_at RETURN n.key AS key

// name: finished_texts_buffered_before
MATCH (n:BufferedText) WHERE n.buffered_at < $buffered_at AND n.finished RETURN n.key AS key

// name: all_job_keys
MATCH (n:Job) RETURN n.key AS key

// name: live_datasets
MATCH (n:`Table`) WHERE n.dropped_at IS NULL
RETURN n.key AS key, n.namespace AS namespace, n.full_name AS name, n.kind AS kind, n.facts AS facts,
       n.tags AS tags

// Of tables whose names are equal up to the last dot, one name. A last part with quotes may have dots: then the name itself.
// name: schema_counts
MATCH (n:`Table`) WHERE n.dropped_at IS NULL
WITH n.namespace AS namespace, n.full_name AS name, n.kind = 'exposure' AS exposure, last(split(n.full_name, '.')) AS own
WITH namespace, name, exposure, left(name, size(name) - size(own)) AS above,
     CASE WHEN own = '' OR any(quote IN ['"', '`', '[', ']'] WHERE own CONTAINS quote) THEN name END AS whole
RETURN namespace, above, whole, min(name) AS name, count(*) AS tables, count(CASE WHEN exposure THEN 1 END) AS exposures

// name: all_dataset_keys
MATCH (n:`Table`) RETURN n.key AS key

// Pagination: `page` returns the keys in order, `page_where_…` are conditions on `n`, `page_beyond…` on the cursor.
// name: page
MATCH <pattern>
WHERE <where>
RETURN n.key AS key, n.<property> AS value, n.<shown> AS name
ORDER BY value <direction>, key <key_direction>
LIMIT $limit

// name: page_count
MATCH <pattern>
WHERE <where>
RETURN count(*) AS number

// name: page_names
MATCH <pattern>
WHERE <where>
RETURN n.key AS key, n.full_name AS name

// name: page_of_runs
(n:Run)

// name: page_of_jobs
(n:Job)

// name: page_of_datasets
(n:`Table`)

// name: page_of_diagnostics
(n:Diagnostic)

// name: page_beyond_key
n.key <sign> $<side>_key

// name: page_beyond
(n.<property> <sign> $<side>_value OR (n.<property> = $<side>_value AND n.key <key_sign> $<side>_key))

// name: page_where_kinds
n.kind IN $kinds

// name: page_where_not_retired
n.retired_at IS NULL

// name: page_where_not_dropped
n.dropped_at IS NULL

// name: page_where_ran_by
EXISTS { MATCH (:Run)-[e:OBSERVED]->(n) WHERE $user IN e.users }

// name: page_where_project
n.file_key STARTS WITH $project

// name: page_where_file
(n.source = $file OR n.source STARTS WITH $folder OR n.file_key CONTAINS $path OR n.file_key CONTAINS $below)

// name: page_where_namespace
n.namespace = $namespace

// name: page_where_tags
all(tag IN $tags WHERE tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })

// name: page_where_codes
n.code IN $codes

// name: page_where_severities
n.severity IN $severities

// name: page_where_source
n.source = $source

// name: diagnostics_by_key
MATCH (n:Diagnostic {key: $key}) RETURN n

// name: usage_of_datasets
MATCH (n:Usage)-[:OF]->(o:`Table`)
WHERE n.day >= $since AND n.day <= $until
RETURN o.key AS of, sum(n.reads) AS reads, sum(n.writes) AS writes, min(n.day) AS first_day, max(n.day) AS last_day,
       max(n.last_read) AS read_at

// name: count_search_datasets
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND n.search CONTAINS $text AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN count(n) AS number

// name: count_search_aliases
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND size(n.aliases) > 0 AND NOT n.search CONTAINS $text AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
UNWIND n.aliases AS alias
WITH n, toLower(alias) AS alias
WHERE alias CONTAINS $text
RETURN count(DISTINCT n.key) AS number

// name: count_search_columns
MATCH (n:`Column`)
WHERE NOT n.dataset IN $forgotten AND n.search CONTAINS $text AND n.dropped_at IS NULL AND all(tag IN $tags WHERE tag = '' OR tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN count(n) AS number

// name: count_datasets_with_tags
MATCH (n:`Table`)
WHERE NOT n.key IN $forgotten AND all(tag IN $tags WHERE tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied })
RETURN count(n) AS number

// name: count_columns_with_tags
MATCH (n:`Column`)
WHERE NOT n.dataset IN $forgotten AND all(tag IN $tags WHERE tag IN n.tags OR tag IN n.source_tags
  OR EXISTS { MATCH (g:Tag {subject: n.key, name: tag}) WHERE NOT g.denied }) AND n.dropped_at IS NULL
RETURN count(n) AS number

// name: dated_writes_of_jobs
UNWIND $jobs AS job MATCH (n:Job {key: job})-[w:WRITES]->(t:`Table`) WHERE w.last_seen IS NOT NULL
RETURN t.key AS dataset, w.first_seen AS since, w.last_seen AS last_seen, w.observations AS observations, n

// What is known from after a time; one row if there is anything. Few are that late: they are looked for in the lists.
// name: changes_after
MATCH (c:Change) WHERE c.at > $at RETURN c.key AS key ORDER BY key LIMIT 1

// name: prunes_after
MATCH (p:Prune) WHERE p.at > $at RETURN p.key AS key ORDER BY key LIMIT 1

// name: jobs_seen_after
MATCH (j:Job) WHERE (j.last_seen > $at OR j.retired_at IS NOT NULL) AND j.key IN $jobs
RETURN j.key AS key ORDER BY key LIMIT 1

// name: datasets_seen_after
MATCH (d:`Table`) WHERE d.last_seen > $at AND d.key IN $datasets RETURN d.key AS key ORDER BY key LIMIT 1

// name: datasets_of_jobs_seen_after
UNWIND $jobs AS job MATCH (j:Job {key: job})-[:READS|WRITES]->(d:`Table`) WHERE d.last_seen > $at
RETURN d.key AS key ORDER BY key LIMIT 1
