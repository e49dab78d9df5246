// Version 23: what a job still writes has no time of its own. The job's holds, which has its latest times for all outputs.
MATCH (j:Job) WHERE j.kind <> 'query' SET j.observed_at = [toString(j.last_seen)];
MATCH (j:Job)-[e:WRITES]->(:`Table`) WHERE e.last_seen >= j.last_seen
WITH e, ([''] + e.observations)[-1] AS last WHERE NOT last CONTAINS ' -'
REMOVE e.last_seen;
MATCH (m:Meta {key: 'schema'}) SET m.version = 23;
