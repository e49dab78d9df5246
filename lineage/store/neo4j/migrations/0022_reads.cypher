// Version 22: what a job still reads has no time of its own; the job's holds.
MATCH (j:Job)-[e:READS]->(:`Table`) WHERE e.last_seen >= j.last_seen REMOVE e.last_seen;
MATCH (m:Meta {key: 'schema'}) SET m.version = 22;
