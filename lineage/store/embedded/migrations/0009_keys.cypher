// Version 9: one canonical format for column keys and paths. rekeying.py converts existing nodes.
MATCH (m:Meta {key: 'schema'}) SET m.version = 9;
