// Version 12: columns that are renamed: which, and what they were called before.
ALTER TABLE Change ADD path STRING;
ALTER TABLE `Column` ADD aliases STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 12;
