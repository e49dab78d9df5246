// Version 10: which project's file a job or a finding is of. SQL files counted as usage: they are none.
CREATE INDEX job_file_key IF NOT EXISTS FOR (n:Job) ON (n.file_key);
CREATE INDEX diagnostic_file_key IF NOT EXISTS FOR (n:Diagnostic) ON (n.file_key);
MATCH (u:Usage) WHERE u.run STARTS WITH 'sql:' DETACH DELETE u;
MATCH (m:Meta {key: 'schema'}) SET m.version = 10;
