// Version 1: the graph: nodes and relationships with the properties of schema.py at that version, without `search`.
CREATE NODE TABLE Meta (key STRING PRIMARY KEY, version INT64);

CREATE NODE TABLE `Table` (
  key STRING PRIMARY KEY, namespace STRING, name STRING, kind STRING, dialect STRING, schema_known BOOL,
  aliases STRING[], first_seen TIMESTAMP, last_seen TIMESTAMP, dropped_at TIMESTAMP
);
CREATE NODE TABLE `Column` (
  key STRING PRIMARY KEY, dataset STRING, path STRING, name STRING, data_type STRING, ordinal INT64,
  inferred BOOL, parent STRING, dropped_at TIMESTAMP
);
CREATE NODE TABLE Job (
  key STRING PRIMARY KEY, kind STRING, sql STRING, dialect STRING, operation STRING, source STRING,
  source_line INT64, completeness STRING, first_seen TIMESTAMP, last_seen TIMESTAMP, retired_at TIMESTAMP
);
CREATE NODE TABLE Run (
  key STRING PRIMARY KEY, kind STRING, source STRING, at TIMESTAMP, last_seen TIMESTAMP, counts STRING,
  seconds DOUBLE, complete_sources STRING[]
);
CREATE NODE TABLE Change (
  key STRING PRIMARY KEY, kind STRING, dataset STRING, other STRING, at TIMESTAMP, replaced BOOL
);
CREATE NODE TABLE Diagnostic (
  key STRING PRIMARY KEY, code STRING, severity STRING, message STRING, advice STRING, span_start INT64,
  span_end INT64, span_line INT64, span_column INT64, source STRING, job STRING, run STRING, last_seen TIMESTAMP
);
CREATE NODE TABLE Usage (key STRING PRIMARY KEY, run STRING, day DATE, reads INT64, writes INT64);

CREATE REL TABLE HAS_COLUMN (FROM `Table` TO `Column`);
CREATE REL TABLE HAS_FIELD (FROM `Column` TO `Column`);
CREATE REL TABLE CONTRIBUTES (
  FROM `Column` TO `Column`,
  job STRING, subtypes STRING[], masking BOOL, limited BOOL, ambiguous BOOL, spans STRING[],
  first_seen TIMESTAMP, last_seen TIMESTAMP
);
CREATE REL TABLE CONTRIBUTED (
  FROM `Column` TO `Column`,
  job STRING, subtypes STRING[], masking BOOL, limited BOOL, ambiguous BOOL, spans STRING[],
  valid_from TIMESTAMP, valid_to TIMESTAMP, last_seen TIMESTAMP
);
CREATE REL TABLE `REFERENCES` (
  FROM `Column` TO `Column`, FROM `Column` TO `Table`,
  job STRING, subtypes STRING[], masking BOOL, limited BOOL, ambiguous BOOL, spans STRING[],
  first_seen TIMESTAMP, last_seen TIMESTAMP
);
CREATE REL TABLE REFERENCED (
  FROM `Column` TO `Column`, FROM `Column` TO `Table`,
  job STRING, subtypes STRING[], masking BOOL, limited BOOL, ambiguous BOOL, spans STRING[],
  valid_from TIMESTAMP, valid_to TIMESTAMP, last_seen TIMESTAMP
);
CREATE REL TABLE FEEDS (FROM `Table` TO `Table`, job STRING, first_seen TIMESTAMP, last_seen TIMESTAMP);
CREATE REL TABLE FED (
  FROM `Table` TO `Table`, job STRING, valid_from TIMESTAMP, valid_to TIMESTAMP, last_seen TIMESTAMP
);
CREATE REL TABLE READS (FROM Job TO `Table`, first_seen TIMESTAMP, last_seen TIMESTAMP);
CREATE REL TABLE WRITES (FROM Job TO `Table`, first_seen TIMESTAMP, last_seen TIMESTAMP, observations STRING[]);
CREATE REL TABLE OBSERVED (FROM Run TO Job, observations INT64);
CREATE REL TABLE REPORTED (FROM Run TO Diagnostic);
CREATE REL TABLE ABOUT (FROM Diagnostic TO Job);
CREATE REL TABLE OF (FROM Usage TO `Table`, FROM Usage TO `Column`);

CREATE (:Meta {key: 'schema', version: 1});
