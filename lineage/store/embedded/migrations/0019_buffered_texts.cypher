// Version 19: plain names for what is not lineage: buffered texts of unfinished runs, and deferred writes.
ALTER TABLE Held RENAME TO BufferedText;
ALTER TABLE BufferedText RENAME held_at TO buffered_at;
ALTER TABLE Pending RENAME TO DeferredWrite;
MATCH (m:Meta {key: 'schema'}) SET m.version = 19;
