// Version 13: when a dataset was last written and described; DROPs after which it was created again.
ALTER TABLE `Table` ADD written_at TIMESTAMP;
ALTER TABLE `Table` ADD schema_at TIMESTAMP;
ALTER TABLE `Table` ADD kind_at TIMESTAMP;
ALTER TABLE `Change` ADD remade BOOLEAN DEFAULT false;
MATCH (t:`Table`) WHERE t.schema_known SET t.schema_at = t.last_seen;
MATCH (t:`Table`) WHERE t.kind <> 'table' SET t.kind_at = t.last_seen;
MATCH (:Job)-[e:WRITES]->(t:`Table`) WITH t, max(e.last_seen) AS written SET t.written_at = written;
MATCH (m:Meta {key: 'schema'}) SET m.version = 13;
