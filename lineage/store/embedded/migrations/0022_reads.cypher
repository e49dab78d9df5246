// Version 22: what a job still reads has no time of its own; the job's holds.
MATCH (j:Job)-[e:READS]->(t:`Table`) WHERE e.last_seen >= j.last_seen
CREATE (j)-[:READS {first_seen: e.first_seen, last_seen: CAST(NULL AS TIMESTAMP)}]->(t);
MATCH (j:Job)-[e:READS]->(:`Table`) WHERE e.last_seen >= j.last_seen DELETE e;
MATCH (m:Meta {key: 'schema'}) SET m.version = 22;
