// Version 18: the ordinal that a column had which a table has no more; of columns from before it is not known.
ALTER TABLE `Column` ADD last_ordinal INT64;
MATCH (m:Meta {key: 'schema'}) SET m.version = 18;
