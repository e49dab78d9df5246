// Version 10: the project and file of a job or a diagnostic. Usage counts from SQL files are deleted.
ALTER TABLE Job ADD file_key STRING;
ALTER TABLE Diagnostic ADD file_key STRING;
MATCH (u:Usage) WHERE u.run STARTS WITH 'sql:' DETACH DELETE u;
MATCH (m:Meta {key: 'schema'}) SET m.version = 10;
