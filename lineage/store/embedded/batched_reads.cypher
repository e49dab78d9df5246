// Statements of `cypher/read.cypher`, for many keys instead of one; `wanted` is the key that a row belongs to.
// The hints keep ladybug from scanning all relationships.

// name: columns_of_dataset
MATCH (t:`Table`)-[h:HAS_COLUMN]->(n:`Column`)
WHERE t.key IN $keys
HINT (t JOIN h) JOIN n
RETURN t.key AS wanted, n

// name: column_heads
MATCH (t:`Table`)-[h:HAS_COLUMN]->(n:`Column`)
WHERE t.key IN $keys AND n.dropped_at IS NULL
HINT (t JOIN h) JOIN n
RETURN t.key AS wanted, t.key AS dataset, n.path AS path, n.ordinal AS ordinal, n.spelling AS spelling,
       n.data_type AS data_type, n.parent IS NOT NULL AS nested, n.inferred AS inferred

// name: readers_of_dataset
MATCH (t:`Table`)<-[e:READS]-(n:Job)
WHERE t.key IN $keys
HINT (t JOIN e) JOIN n
RETURN t.key AS wanted, t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS retired,
       e.last_seen IS NULL AS still

// name: writers_of_dataset
MATCH (t:`Table`)<-[e:WRITES]-(n:Job)
WHERE t.key IN $keys
HINT (t JOIN e) JOIN n
RETURN t.key AS wanted, t.key AS dataset, n.key AS job, n.kind AS kind, n.retired_at IS NOT NULL AS retired, e

// name: reads_of_job
MATCH (j:Job)-[e:READS]->(t:`Table`)
WHERE j.key IN $keys
HINT (j JOIN e) JOIN t
RETURN j.key AS wanted, j.key AS job, t.key AS dataset, e

// name: writes_of_job
MATCH (j:Job)-[e:WRITES]->(t:`Table`)
WHERE j.key IN $keys
HINT (j JOIN e) JOIN t
RETURN j.key AS wanted, j.key AS job, t.key AS dataset, e

// name: times_of_outputs
MATCH (j:Job)-[e:WRITES]->(t:`Table`)
WHERE j.key IN $keys
HINT (j JOIN e) JOIN t
RETURN j.key AS wanted, j.key AS job, t.key AS dataset, coalesce(e.last_seen, j.last_seen) AS last_seen

// For units, `jobs` contains the jobs of all keys, so rows must be filtered by the job of their key.
// name: edges_of_units
MATCH (t:`Table`)-[h:HAS_COLUMN]->(b:`Column`)<-[e:<any_edge>]-(a)
WHERE t.key IN $keys
HINT (((t JOIN h) JOIN b) JOIN e) JOIN a
WITH t, b, e, a WHERE e.job IN $jobs
RETURN t.key AS wanted, a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, b.key AS target, t.key AS output, e

// name: row_edges_of_units
MATCH (t:`Table`)<-[e:<any_reference>]-(a)
WHERE t.key IN $keys AND e.job IN $jobs
HINT (t JOIN e) JOIN a
RETURN t.key AS wanted, a.key AS source, coalesce(a.dataset, a.key) AS from_dataset, t.key AS target, t.key AS output, e

// name: feeds_of_units
MATCH (t:`Table`)<-[e:<any_feed>]-(a:`Table`)
WHERE t.key IN $keys AND e.job IN $jobs
HINT (t JOIN e) JOIN a
RETURN t.key AS wanted, a.key AS source, a.key AS from_dataset, t.key AS target, t.key AS output, e
