// Statements that write one node or relationship; both stores run them. Names in < > are filled in from graph.py.

// name: create_node
CREATE (n:<label> {<properties>})

// Those for several are the embedded store's alone; Neo4j makes the same of the statement for one.
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

// Relationships of one node to several others, where these are told apart by their ends: the embedded store's alone.
// name: update_relationships_to
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to>) WHERE b.key IN $targets SET <assignments>

// name: refresh_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(:`Column`)<-[e:<types>]-()
WHERE e.job = $job SET e.last_seen = $last_seen

// name: refresh_edges_to_dataset
MATCH (:`Table` {key: $output})<-[e:<types>]-() WHERE e.job = $job SET e.last_seen = $last_seen

// name: delete_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> DELETE e
