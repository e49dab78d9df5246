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

// name: update_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> SET <assignments>

// Relationships from one node to several others, identified by their target nodes; embedded store only.
// name: update_relationships_to
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to>) WHERE b.key IN $targets SET <assignments>

// Relationships of several nodes, each with values of its own: those at its pair's place in every list; embedded store
// only. The hint keeps ladybug from scanning all relationships.
// name: update_relationships_of
MATCH (a:<from>)-[e:<type>]->(b:<to>) WHERE a.key IN $sources
HINT (a JOIN e) JOIN b
WITH e, list_position($pairs, concat(a.key, $between, b.key)) AS place WHERE place > 0
SET <listed_assignments>

// name: refresh_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(:`Column`)<-[e:<types>]-()
WHERE e.job = $job SET e.last_seen = $last_seen

// name: refresh_edges_to_dataset
MATCH (:`Table` {key: $output})<-[e:<types>]-() WHERE e.job = $job SET e.last_seen = $last_seen

// name: delete_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> DELETE e
