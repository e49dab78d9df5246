-- Queries of the explorer, for nodes by number. The last column of an edge is how it leads on (see `Leads`).

-- name: numbers
SELECT n.key, n.id FROM node AS n WHERE n.key IN (SELECT value FROM json_each(:keys)) AND n.id <is> n.dataset

-- name: keys
SELECT n.id, n.key FROM node AS n WHERE n.id IN (SELECT value FROM json_each(:nodes))

-- name: first
SELECT n.id, n.key FROM node AS n WHERE n.id IN (SELECT value FROM json_each(:nodes)) ORDER BY n.key LIMIT :count

-- name: downstream
SELECT e.source, e.target,
       CASE WHEN e.kind IN (<any_contribution>) THEN 0 WHEN b.id = b.dataset THEN 4 ELSE 2 END + coalesce(e.masking, 0)
FROM json_each(:nodes) AS w CROSS JOIN lineage AS e ON e.source = w.value AND e.kind IN (<kinds>)
CROSS JOIN node AS b ON b.id = e.target
WHERE <held>

-- name: upstream
SELECT e.target, e.source,
       CASE WHEN e.kind IN (<any_contribution>) THEN 0 WHEN a.id = a.dataset THEN 4 ELSE 2 END + coalesce(e.masking, 0)
FROM json_each(:nodes) AS w CROSS JOIN lineage AS e ON e.target = w.value AND e.kind IN (<kinds>)
CROSS JOIN node AS a ON a.id = e.source
WHERE <held>

-- name: columns
SELECT n.dataset, n.id FROM json_each(:nodes) AS w CROSS JOIN node AS n ON n.dataset = w.value
CROSS JOIN dataset_column AS c ON c.id = n.id
WHERE <present>

-- name: any_field
SELECT 1 FROM dataset_column WHERE parent IS NOT NULL LIMIT 1

-- name: fields
SELECT w.value, f.id FROM json_each(:nodes) AS w CROSS JOIN node AS n ON n.id = w.value
CROSS JOIN dataset_column AS f ON f.parent = n.key

-- name: holders
SELECT p.id, w.value FROM json_each(:nodes) AS w CROSS JOIN dataset_column AS c ON c.id = w.value
CROSS JOIN node AS p ON p.key = c.parent

-- name: held_now
true

-- name: held_then
(e.since = :at OR (e.since < :at AND (e.until IS NULL OR :at < e.until)))

-- name: present_now
c.dropped_at IS NULL

-- name: present_then
(c.dropped_at IS NULL OR :at < c.dropped_at) AND (c.first_seen IS NULL OR c.first_seen <= :at)

-- The live graph as a whole, by numbers (`live_graph.py`): an index has all that is read of edges.
-- name: all_datasets
SELECT n.id, n.key FROM node AS n WHERE n.id = n.dataset

-- name: all_columns
SELECT n.id, n.dataset, n.key, c.dropped_at IS NULL, coalesce(p.id, -1)
FROM dataset_column AS c CROSS JOIN node AS n ON n.id = c.id LEFT JOIN node AS p ON p.key = c.parent

-- name: all_edges
SELECT e.source, e.target, (e.kind - 1) * 2 + coalesce(e.masking, 0)
FROM lineage AS e INDEXED BY lineage_into WHERE e.kind IN (1, 2)

-- name: nodes_by_key
SELECT n.key, c.dropped_at IS NULL, c.parent
FROM node AS n LEFT JOIN dataset_column AS c ON c.id = n.id WHERE n.key IN (SELECT value FROM json_each(:keys))

-- name: edges_downstream
SELECT n.key, b.key, (e.kind - 1) * 2 + coalesce(e.masking, 0)
FROM json_each(:keys) AS w CROSS JOIN node AS n ON n.key = w.value
CROSS JOIN lineage AS e ON e.source = n.id AND e.kind IN (1, 2) CROSS JOIN node AS b ON b.id = e.target

-- name: edges_upstream
SELECT a.key, n.key, (e.kind - 1) * 2 + coalesce(e.masking, 0)
FROM json_each(:keys) AS w CROSS JOIN node AS n ON n.key = w.value
CROSS JOIN lineage AS e ON e.target = n.id AND e.kind IN (1, 2) CROSS JOIN node AS a ON a.id = e.source

-- name: last_change
SELECT coalesce(max(number), 0) FROM graph_change

-- name: changes_since
SELECT keys FROM graph_change WHERE number > :number
