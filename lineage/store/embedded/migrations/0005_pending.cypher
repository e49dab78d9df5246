// Version 5: deferred writes: the remaining changes of a batch whose new rows were copied in.
CREATE NODE TABLE Pending (number INT64 PRIMARY KEY, text STRING);
MATCH (m:Meta {key: 'schema'}) SET m.version = 5;
