// Version 16: where each statement of a job begins in its file; of jobs from before no property is there.
MATCH (m:Meta {key: 'schema'}) SET m.version = 16;
