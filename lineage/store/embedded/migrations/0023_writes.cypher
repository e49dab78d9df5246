// Version 23: what a job still writes has no time of its own. The job's holds, which has its latest times for all outputs.
ALTER TABLE Job ADD observed_at STRING;
MATCH (j:Job) SET j.observed_at = '';
MATCH (j:Job) WHERE j.kind <> 'query'
WITH j, CAST(date_trunc('second', j.last_seen) AS STRING) AS seconds, date_part('microsecond', j.last_seen) AS part
SET j.observed_at = concat(' ', left(seconds, 10), 'T', right(left(seconds, 19), 8), '.',
right(concat('000000', CAST(part % 1000000 AS STRING)), 6), '+00:00');
MATCH (j:Job)-[e:WRITES]->(t:`Table`) WHERE e.last_seen >= j.last_seen
WITH j, t, e.first_seen AS first_seen, e.observations AS texts, [''] + e.observations AS padded
WITH j, t, first_seen, texts, padded[-1] AS last WHERE NOT last CONTAINS ' -'
CREATE (j)-[:WRITES {first_seen: first_seen, last_seen: CAST(NULL AS TIMESTAMP), observations: texts}]->(t);
MATCH (j:Job)-[e:WRITES]->(:`Table`) WHERE e.last_seen >= j.last_seen
WITH e, [''] + e.observations AS padded
WITH e, padded[-1] AS last WHERE NOT last CONTAINS ' -'
DELETE e;
MATCH (m:Meta {key: 'schema'}) SET m.version = 23;
