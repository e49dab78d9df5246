// Version 13: when a dataset was last written and described; DROPs after which it was created again.
MATCH (t:`Table`) WHERE t.schema_known SET t.schema_at = t.last_seen;
MATCH (t:`Table`) WHERE t.kind <> 'table' SET t.kind_at = t.last_seen;
MATCH (:Job)-[e:WRITES]->(t:`Table`) WITH t, max(e.last_seen) AS written SET t.written_at = written;
MATCH (n:Change) SET n.remade = false;
MATCH (m:Meta {key: 'schema'}) SET m.version = 13;
