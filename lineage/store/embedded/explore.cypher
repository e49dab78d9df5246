// Queries of ladybug's explorer. A join with a list of keys scans all columns, and a statement per key costs 0.1 ms;
// SHORTEST from a single start avoids both. So one query reads everything within a number of hops of the traversal's
// start, with the edges that lead on from there.
// A node's number is twice its offset in its table, plus one for a dataset.

// name: number_column
MATCH (n:`Column` {key: $key}) RETURN offset(id(n)) * 2 AS node

// name: number_dataset
MATCH (n:`Table` {key: $key}) RETURN offset(id(n)) * 2 + 1 AS node

// name: downstream_of_one
MATCH (b:<label> {key: $key})-[e:<types>]->(c) WHERE <held>
RETURN <source> AS source, <end> AS far, <way> AS way, c.key AS key, <present> AS present

// name: upstream_of_one
MATCH (b:<label> {key: $key})<-[e:<types>]-(c) WHERE <held>
RETURN <source> AS source, <end> AS far, <way> AS way, c.key AS key, <present> AS present

// name: downstream_within
MATCH (a:<label> {key: $key})-[p:<types>* SHORTEST 1..<depth>]->(b)-[e:<types>]->(c) WHERE <held>
RETURN <source> AS source, <end> AS far, <way> AS way, c.key AS key, <present> AS present, length(p) AS near

// name: upstream_within
MATCH (a:<label> {key: $key})<-[p:<types>* SHORTEST 1..<depth>]-(b)<-[e:<types>]-(c) WHERE <held>
RETURN <source> AS source, <end> AS far, <way> AS way, c.key AS key, <present> AS present, length(p) AS near

// name: columns_of_one
MATCH (b:`Table` {key: $key})-[:HAS_COLUMN]->(c:`Column`)
RETURN <end> AS far, c.key AS key, <present> AS present

// name: columns_within
MATCH (a:<label> {key: $key})-[p:<types>* SHORTEST 1..<depth>]->(b:`Table`)-[:HAS_COLUMN]->(c:`Column`)
RETURN <source> AS source, <end> AS far, c.key AS key, <present> AS present

// name: fields_within
MATCH (a:<label> {key: $key})<-[p:<types>* SHORTEST 1..<depth>]-(b:`Column`)-[:HAS_FIELD]->(c:`Column`)
RETURN <source> AS source, <end> AS far, c.key AS key

// name: fields_of_one
MATCH (b:`Column` {key: $key})-[:HAS_FIELD]->(c:`Column`) RETURN <source> AS source, <end> AS far, c.key AS key

// name: holders_of_one
MATCH (b:`Column` {key: $key})<-[:HAS_FIELD]-(c:`Column`) RETURN <source> AS source, <end> AS far, c.key AS key

// name: any_field
MATCH (:`Column`)-[e:HAS_FIELD]->(:`Column`) RETURN 1 AS one LIMIT 1

// name: source
offset(id(b)) * 2 + CASE WHEN label(b) = 'Table' THEN 1 ELSE 0 END

// name: end
offset(id(c)) * 2 + CASE WHEN label(c) = 'Table' THEN 1 ELSE 0 END

// name: way
CASE label(e) WHEN 'CONTRIBUTES' THEN 0 WHEN '<contributed>' THEN 0 WHEN 'HAS_FIELD' THEN 6 WHEN 'HAS_COLUMN' THEN 7
  ELSE CASE WHEN label(c) = 'Table' THEN 4 ELSE 2 END END + CASE WHEN e.masking THEN 1 ELSE 0 END

// name: held_now
true

// name: held_then
label(e) IN ['HAS_FIELD', 'HAS_COLUMN'] OR coalesce(e.valid_from, e.first_seen) = $at
  OR (coalesce(e.valid_from, e.first_seen) < $at AND (e.valid_to IS NULL OR $at < e.valid_to))

// name: present_now
c.dropped_at IS NULL

// name: present_then
(c.dropped_at IS NULL OR $at < c.dropped_at) AND (c.first_seen IS NULL OR c.first_seen <= $at)
