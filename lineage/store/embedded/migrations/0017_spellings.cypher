// Version 17: how names are written, where a dialect compares them without case; of names from before it is not known.
ALTER TABLE `Table` ADD spelling STRING;
ALTER TABLE `Table` ADD spelled_at TIMESTAMP;
ALTER TABLE `Column` ADD spelling STRING;
ALTER TABLE Change ADD spelling STRING;
MATCH (m:Meta {key: 'schema'}) SET m.version = 17;
