// Version 14: when a column was first seen; unknown for older columns.
ALTER TABLE `Column` ADD first_seen TIMESTAMP;
MATCH (m:Meta {key: 'schema'}) SET m.version = 14;
