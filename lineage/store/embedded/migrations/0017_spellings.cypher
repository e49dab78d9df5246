// Version 17: original spelling of names, for dialects that compare names ignoring case; unknown for older names.
ALTER TABLE `Table` ADD spelling STRING;
ALTER TABLE `Table` ADD spelled_at TIMESTAMP;
ALTER TABLE `Column` ADD spelling STRING;
ALTER TABLE Change ADD spelling STRING;
MATCH (m:Meta {key: 'schema'}) SET m.version = 17;
