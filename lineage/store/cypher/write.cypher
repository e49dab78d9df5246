// Statements that write one node or relationship; both stores run them. Names in < > are filled in from graph.py.

// name: create_node
CREATE (n:<label> {<properties>})

// The embedded store's alone; Neo4j makes the same of the statement for one.
// name: create_nodes
UNWIND $rows AS row CREATE (n:<label> {<fields>})

// name: update_node
MATCH (n:<label> {key: $key}) SET <assignments>

// name: delete_node
MATCH (n:<label> {key: $key}) DETACH DELETE n

// name: create_relationship
MATCH (a:<from> {key: $source}), (b:<to> {key: $target}) CREATE (a)-[e:<type> {<properties>}]->(b)

// name: update_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> SET <assignments>

// name: refresh_edges_to_columns
MATCH (:`Table` {key: $output})-[:HAS_COLUMN]->(:`Column`)<-[e:<type>]-()
WHERE e.job = $job SET e.last_seen = $last_seen

// name: refresh_edges_to_dataset
MATCH (:`Table` {key: $output})<-[e:<type>]-() WHERE e.job = $job SET e.last_seen = $last_seen

// name: delete_relationship
MATCH (a:<from> {key: $source})-[e:<type>]->(b:<to> {key: $target}) WHERE <identity> DELETE e
