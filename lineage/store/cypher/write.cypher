// Statements of both stores that write one node or relationship. Names in < > are replaced with those of schema.py.

// name: create_node
CREATE (n:<label> {<properties>})

// Statements for several nodes are for the embedded store only; Neo4j's are derived from those for one node.
// name: create_nodes
UNWIND $rows AS row CREATE (n:<label> {<fields>})

// name: update_node
MATCH (n:<label> {key: $key}) SET <assignments>

// name: update_nodes
UNWIND $rows AS row MATCH (n:<label> {key: row.key}) SET <row_assignments>

// name: delete_node
MATCH (n:<label> {key: $key}) DETACH DELETE n

// name: delete_nodes
UNWIND $keys AS wanted MATCH (n:<label> {key: wanted}) DETACH DELETE n

// name: create_relationship
MATCH (a:<from> {key: $source}), (b:<to> {key: $target}) CREATE (a)-[e:<type> {<properties>}]->(b)

// Relationships from one node to several others, with the same properties.
// name: create_relationships_to
MATCH (a:<from> {key: $source}) UNWIND $targets AS target MATCH (b:<to> {key: target})
CREATE (a)-[:<type> {<properties>}]->(b)

// name: update_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> SET <assignments>

// The embedded store never sets properties of relationships: it deletes them, and creates new ones (see transaction.py).
// Relationships from one node to several others, identified by their target nodes.
// name: delete_relationships_to
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to>) WHERE b.key IN $targets DELETE e

// Relationships of several nodes, each with values of its own: those at its pair's place in every list. New ones are
// created beside the old ones, which differ in a value. The hint keeps ladybug from scanning all relationships.
// name: renew_relationships_of
MATCH (a:<from>)-[e:<type>]->(b:<to>) WHERE a.key IN $sources
HINT (a JOIN e) JOIN b
WITH a, b, list_position($pairs, concat(a.key, $between, b.key)) AS place WHERE place > 0
CREATE (a)-[:<type> {<listed>}]->(b)

// name: delete_other_relationships_of
MATCH (a:<from>)-[e:<type>]->(b:<to>) WHERE a.key IN $sources
HINT (a JOIN e) JOIN b
WITH e, list_position($pairs, concat(a.key, $between, b.key)) AS place
WITH e, place, CASE WHEN place > 0 THEN place ELSE 1 END AS listed
WHERE place > 0 AND NOT coalesce(<as_listed>, false)
DELETE e

// Live edges of a unit (a job and one output) that were last seen earlier: the same ones as seen now, then without those.
// name: renew_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(b:`Column`)<-[e:<type>]-(a:<from>)
WHERE e.job = $job AND e.last_seen < $last_seen CREATE (a)-[:<type> {<renewed>}]->(b)

// name: renew_edges_to_dataset
MATCH (b:`Table` {key: $output})<-[e:<type>]-(a:<from>)
WHERE e.job = $job AND e.last_seen < $last_seen CREATE (a)-[:<type> {<renewed>}]->(b)

// name: delete_older_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(:`Column`)<-[e:<type>]-(:<from>)
WHERE e.job = $job AND e.last_seen < $last_seen DELETE e

// name: delete_older_edges_to_dataset
MATCH (:`Table` {key: $output})<-[e:<type>]-(:<from>) WHERE e.job = $job AND e.last_seen < $last_seen DELETE e

// Likewise for many units with one `last_seen`.
// name: renew_edges_to_columns_of
UNWIND $units AS unit
MATCH (:`Table` {key: unit.output})-[:HAS_COLUMN]->(b:`Column`)<-[e:<type>]-(a:<from>)
WHERE e.job = unit.job AND e.last_seen < $last_seen CREATE (a)-[:<type> {<renewed>}]->(b)

// name: renew_edges_to_dataset_of
UNWIND $units AS unit
MATCH (b:`Table` {key: unit.output})<-[e:<type>]-(a:<from>)
WHERE e.job = unit.job AND e.last_seen < $last_seen CREATE (a)-[:<type> {<renewed>}]->(b)

// name: delete_older_edges_to_columns_of
UNWIND $units AS unit
MATCH (:`Table` {key: unit.output})-[:HAS_COLUMN]->(:`Column`)<-[e:<type>]-(:<from>)
WHERE e.job = unit.job AND e.last_seen < $last_seen DELETE e

// name: delete_older_edges_to_dataset_of
UNWIND $units AS unit
MATCH (:`Table` {key: unit.output})<-[e:<type>]-(:<from>) WHERE e.job = unit.job AND e.last_seen < $last_seen DELETE e

// Neo4j's way to do the same.
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
