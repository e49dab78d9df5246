// Version 10: which project's file a job or a finding is of. SQL files counted as usage: they are none.
ALTER TABLE Job ADD file_key STRING;
ALTER TABLE Diagnostic ADD file_key STRING;
MATCH (u:Usage) WHERE u.run STARTS WITH 'sql:' DETACH DELETE u;
MATCH (m:Meta {key: 'schema'}) SET m.version = 10;
