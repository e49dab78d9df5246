// Version 3: users and last use of datasets, columns and jobs, and the run time of jobs. Older nodes have no values.
ALTER TABLE Usage ADD users STRING[];
ALTER TABLE Usage ADD user_queries INT64[];
ALTER TABLE Usage ADD other_users INT64;
ALTER TABLE Usage ADD other_queries INT64;
ALTER TABLE Usage ADD last_read TIMESTAMP;
ALTER TABLE Usage ADD last_write TIMESTAMP;
ALTER TABLE OBSERVED ADD duration_us INT64;
ALTER TABLE OBSERVED ADD users STRING[];
ALTER TABLE OBSERVED ADD user_queries INT64[];
ALTER TABLE OBSERVED ADD other_users INT64;
ALTER TABLE OBSERVED ADD other_queries INT64;
MATCH (m:Meta {key: 'schema'}) SET m.version = 3;
