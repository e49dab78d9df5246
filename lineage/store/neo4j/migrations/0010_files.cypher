// Version 10: the project and file of a job or a diagnostic. Usage counts from SQL files are deleted.
CREATE INDEX job_file_key IF NOT EXISTS FOR (n:Job) ON (n.file_key);
CREATE INDEX diagnostic_file_key IF NOT EXISTS FOR (n:Diagnostic) ON (n.file_key);
MATCH (u:Usage) WHERE u.run STARTS WITH 'sql:' DETACH DELETE u;
MATCH (m:Meta {key: 'schema'}) SET m.version = 10;
