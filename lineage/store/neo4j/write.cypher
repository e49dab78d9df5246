// Statements that write one node or relationship to Neo4j. Names in < > are replaced with those of schema.py.

// name: create_node
CREATE (n:<label> {<properties>})

// name: update_node
MATCH (n:<label> {key: $key}) SET <assignments>

// name: delete_node
MATCH (n:<label> {key: $key}) DETACH DELETE n

// name: create_relationship
MATCH (a:<from> {key: $source}), (b:<to> {key: $target}) CREATE (a)-[e:<type> {<properties>}]->(b)

// name: update_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> SET <assignments>

// Live edges of a unit (a job and one output) that are seen again.
// name: refresh_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(:`Column`)<-[e:<types>]-()
WHERE e.job = $job SET e.last_seen = $last_seen

// name: refresh_edges_to_dataset
MATCH (:`Table` {key: $output})<-[e:<types>]-() WHERE e.job = $job SET e.last_seen = $last_seen

// name: delete_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> DELETE e

// The statements for jobs that were observed again, unchanged since $valid_from.
// name: see_jobs_again
UNWIND $jobs AS job MATCH (j:Job {key: job}) WHERE j.last_seen = $valid_from AND j.last_seen < $last_seen
SET j.last_seen = $last_seen, j.observed_at = right(j.observed_at, <size>) + $observed

// What a job still reads has no `last_seen`.
// name: see_read_datasets_again
UNWIND $jobs AS job MATCH (j:Job {key: job})-[e:READS]->(d:`Table`)
WHERE e.last_seen IS NULL AND j.last_seen = $last_seen AND d.last_seen < $last_seen SET d.last_seen = $last_seen

// name: see_datasets_again
UNWIND $datasets AS dataset MATCH (d:`Table` {key: dataset}) SET
d.last_seen = CASE WHEN d.last_seen < $last_seen THEN $last_seen ELSE d.last_seen END,
d.written_at = CASE WHEN d.written_at = $valid_from THEN $last_seen ELSE d.written_at END,
d.schema_at = CASE WHEN d.schema_at = $valid_from THEN $last_seen ELSE d.schema_at END,
d.kind_at = CASE WHEN d.kind_at = $valid_from THEN $last_seen ELSE d.kind_at END,
d.spelled_at = CASE WHEN d.spelled_at = $valid_from THEN $last_seen ELSE d.spelled_at END
