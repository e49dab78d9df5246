// Version 12: renamed columns and their earlier names.
ALTER TABLE Change ADD path STRING;
ALTER TABLE `Column` ADD aliases STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 12;
