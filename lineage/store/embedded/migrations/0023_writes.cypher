// Version 23: what a job still writes has no time of its own. The job's holds, which has its latest times for all outputs.
ALTER TABLE Job ADD observed_at STRING[];
MATCH (j:Job) WHERE j.kind <> 'query' SET j.observed_at = [concat(CAST(j.last_seen AS STRING), '+00:00')];
MATCH (j:Job)-[e:WRITES]->(t:`Table`) WHERE e.last_seen >= j.last_seen
WITH j, t, e.first_seen AS first_seen, e.observations AS texts, [''] + e.observations AS padded
WITH j, t, first_seen, texts, padded[-1] AS last WHERE NOT last CONTAINS ' -'
CREATE (j)-[:WRITES {first_seen: first_seen, last_seen: CAST(NULL AS TIMESTAMP), observations: texts}]->(t);
MATCH (j:Job)-[e:WRITES]->(:`Table`) WHERE e.last_seen >= j.last_seen
WITH e, [''] + e.observations AS padded
WITH e, padded[-1] AS last WHERE NOT last CONTAINS ' -'
DELETE e;
MATCH (m:Meta {key: 'schema'}) SET m.version = 23;
