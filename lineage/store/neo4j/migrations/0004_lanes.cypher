// Version 4: what writers lock, so that those of different lanes can write at the same time.
UNWIND range(0, 15) AS lane MERGE (m:Meta {key: 'lane ' + toString(lane)}) SET m.version = 0;
MATCH (m:Meta {key: 'schema'}) SET m.version = 4;
