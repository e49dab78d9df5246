// Queries of Neo4j's explorer. Nodes are passed and returned as internal IDs, and each result is one record of lists:
// a record per relationship would cost more than finding it. The end of a relationship is a number whose last three
// bits encode how the traversal continues from it (see `Leads`).

// name: number_columns
UNWIND $keys AS key MATCH (n:`Column` {key: key}) RETURN collect(id(n)) AS nodes, collect(key) AS keys

// name: number_datasets
UNWIND $keys AS key MATCH (n:`Table` {key: key}) RETURN collect(id(n)) AS nodes, collect(key) AS keys

// name: downstream
// Also returns the columns of end datasets that are not yet known, and the parents of the nodes that are fields.
CALL () {
  UNWIND $nodes AS node MATCH (a) WHERE id(a) = node
  RETURN collect(node) AS nodes, collect(a.key) AS keys, collect(CASE WHEN a.parent IS NOT NULL THEN a END) AS inner
}
CALL () {
  UNWIND $nodes AS node MATCH (a) WHERE id(a) = node
  MATCH (a)-[e:<types>|HAS_FIELD]->(b) WHERE <held>
  WITH node, b, <way> AS way, e.masking AS masking
  RETURN collect(node) AS sources, collect(id(b) * 8 + way + CASE WHEN masking THEN 1 ELSE 0 END) AS ends,
         collect(DISTINCT CASE WHEN way = 4 AND NOT id(b) IN $known THEN b END) AS tables
}
CALL (tables) {
  UNWIND tables AS t MATCH (t)-[:HAS_COLUMN]->(c) WHERE <present>
  RETURN collect(id(t)) AS datasets, collect(id(c)) AS columns
}
CALL (inner) {
  UNWIND inner AS f MATCH (f)<-[:HAS_FIELD]-(a) RETURN collect(id(a)) AS holders, collect(id(f)) AS fields
}
RETURN nodes, keys, sources, ends, [t IN tables | id(t)] AS tables, datasets, columns, holders, fields

// name: upstream
CALL () {
  UNWIND $nodes AS node MATCH (a) WHERE id(a) = node RETURN collect(node) AS nodes, collect(a.key) AS keys
}
CALL () {
  UNWIND $nodes AS node MATCH (a) WHERE id(a) = node
  MATCH (a)<-[e:<types>|HAS_FIELD]-(b) WHERE <held>
  RETURN collect(node) AS sources, collect(id(b) * 8 + <way> + CASE WHEN e.masking THEN 1 ELSE 0 END) AS ends
}
CALL () {
  UNWIND $nodes AS node MATCH (a) WHERE id(a) = node MATCH (a)-[:HAS_FIELD]->(f)
  RETURN collect(node) AS holders, collect(id(f)) AS fields
}
RETURN nodes, keys, sources, ends, [] AS tables, [] AS datasets, [] AS columns, holders, fields

// name: columns
UNWIND $nodes AS node MATCH (t) WHERE id(t) = node MATCH (t)-[:HAS_COLUMN]->(c) WHERE <present>
RETURN collect(node) AS datasets, collect(id(c)) AS columns

// name: keys
UNWIND $nodes AS node MATCH (a) WHERE id(a) = node RETURN collect(node) AS nodes, collect(a.key) AS keys

// name: first
UNWIND $nodes AS node MATCH (a) WHERE id(a) = node
WITH node, a.key AS key ORDER BY key LIMIT $count
RETURN collect(node) AS nodes, collect(key) AS keys

// name: way
CASE WHEN e:<any_contribution> THEN 0 WHEN e:HAS_FIELD THEN 6 WHEN b:`Table` THEN 4 ELSE 2 END

// name: held_now
true

// name: held_then
e:HAS_FIELD OR coalesce(e.valid_from, e.first_seen) = $at
  OR (coalesce(e.valid_from, e.first_seen) < $at AND (e.valid_to IS NULL OR $at < e.valid_to))

// name: present_now
c.dropped_at IS NULL

// name: present_then
(c.dropped_at IS NULL OR $at < c.dropped_at) AND (c.first_seen IS NULL OR c.first_seen <= $at)

// The live graph as a whole, by numbers (`live_graph.py`). The ends of a node are numbers with the code in two bits.
// name: all_datasets
MATCH (t:`Table`) RETURN id(t) AS node, t.key AS key

// name: all_columns
MATCH (t:`Table`)-[:HAS_COLUMN]->(c)
RETURN id(t) AS dataset, collect([id(c), c.key, c.dropped_at IS NULL, head([(c)<-[:HAS_FIELD]-(p) | id(p)])]) AS columns

// name: all_edges
MATCH (a) WHERE a:`Table` OR a:`Column`
WITH a, [(a)-[e:CONTRIBUTES|REFERENCES]->(b) | id(b) * 4 + <code>] AS ends WHERE size(ends) > 0
RETURN id(a) AS node, ends

// name: nodes_by_key
UNWIND $keys AS key MATCH (n:`Column` {key: key}) RETURN n.key AS key, n.dropped_at IS NULL AS there, n.parent AS parent
UNION ALL
UNWIND $keys AS key MATCH (n:`Table` {key: key}) RETURN n.key AS key, true AS there, null AS parent

// name: edges_downstream
UNWIND $keys AS key MATCH (a:<label> {key: key})-[e:CONTRIBUTES|REFERENCES]->(b)
RETURN a.key AS source, b.key AS target, <code> AS code

// name: edges_upstream
UNWIND $keys AS key MATCH (b:<label> {key: key})<-[e:CONTRIBUTES|REFERENCES]-(a)
RETURN a.key AS source, b.key AS target, <code> AS code

// name: code
CASE WHEN e:CONTRIBUTES THEN 0 ELSE 2 END + CASE WHEN e.masking THEN 1 ELSE 0 END

// What each commit changes of it, by lock stripe. `place` is the stripe and the number of the commit.
// name: neighbours
UNWIND $keys AS key MATCH (n:<label> {key: key})-[:CONTRIBUTES|REFERENCES]-(m) RETURN DISTINCT m.key AS key

// name: record_change
MATCH (m:Meta {key: 'lock stripe ' + toString($stripe)})
SET m.changes = coalesce(m.changes, 0) + 1
CREATE (c:GraphChange {place: $stripe * $span + m.changes, keys: $keys})
WITH m MATCH (c:GraphChange)
WHERE $stripe * $span <= c.place AND c.place < $stripe * $span + m.changes - $kept DELETE c

// name: last_changes
UNWIND range(0, <stripes> - 1) AS stripe
MATCH (m:Meta {key: 'lock stripe ' + toString(stripe)})
OPTIONAL MATCH (c:Meta {key: 'commits ' + toString(stripe)})
WITH stripe, m, c ORDER BY stripe
RETURN collect(coalesce(m.changes, 0)) AS numbers,
       coalesce(max(CASE WHEN c.version % 2 = 1 THEN c.began END) > timestamp() - <abandoned>, false) AS committing

// name: changes_since
UNWIND $since AS since MATCH (c:GraphChange) WHERE since[0] < c.place AND c.place <= since[1] RETURN c.keys AS keys
