// Version 16: where each statement of a job begins in its file; unknown for older jobs.
ALTER TABLE Job ADD positions STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 16;
