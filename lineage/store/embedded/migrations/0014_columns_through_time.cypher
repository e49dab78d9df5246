// Version 14: when a column was first seen; of columns from before it is not known.
ALTER TABLE `Column` ADD first_seen TIMESTAMP;
MATCH (m:Meta {key: 'schema'}) SET m.version = 14;
