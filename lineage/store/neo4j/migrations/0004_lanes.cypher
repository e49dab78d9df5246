// Version 4: the nodes that writers lock, so that writers of different stripes can write concurrently.
UNWIND range(0, 15) AS lane MERGE (m:Meta {key: 'lane ' + toString(lane)}) SET m.version = 0;
MATCH (m:Meta {key: 'schema'}) SET m.version = 4;
