// Version 16: where each statement of a job begins in its file; of jobs from before it is not known.
ALTER TABLE Job ADD positions STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 16;
