// Version 5: nothing new here; in the embedded store it brings what is left to write of a batch.
MATCH (m:Meta {key: 'schema'}) SET m.version = 5;
