// Version 17: how names are written, where a dialect compares them without case; of names from before no property is there.
MATCH (m:Meta {key: 'schema'}) SET m.version = 17;
