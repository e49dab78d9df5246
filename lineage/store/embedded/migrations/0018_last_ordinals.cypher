// Version 18: the last ordinal of a removed column; unknown for older columns.
ALTER TABLE `Column` ADD last_ordinal INT64;
MATCH (m:Meta {key: 'schema'}) SET m.version = 18;
