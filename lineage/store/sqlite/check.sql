-- What a store must not contain: each statement counts it.

-- name: edges without an end
SELECT count(*) FROM lineage AS e
WHERE e.source NOT IN (SELECT id FROM node) OR e.target NOT IN (SELECT id FROM node)

-- name: edges without a job
SELECT count(*) FROM lineage AS e WHERE e.job NOT IN (SELECT id FROM job_key)

-- name: columns without a table
SELECT count(*) FROM node AS n WHERE n.dataset NOT IN (SELECT id FROM dataset)

-- name: nodes without properties
SELECT count(*) FROM node AS n
WHERE n.id NOT IN (SELECT id FROM dataset) AND n.id NOT IN (SELECT id FROM dataset_column)

-- name: reads or writes without a job or table
SELECT count(*) FROM (SELECT job, dataset FROM reads UNION ALL SELECT job, dataset FROM writes) AS e
WHERE e.job NOT IN (SELECT id FROM job) OR e.dataset NOT IN (SELECT id FROM dataset)

-- name: edges that end before they begin
SELECT count(*) FROM lineage AS e WHERE e.until < e.since
