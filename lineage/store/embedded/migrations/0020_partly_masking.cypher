// Version 20: the masked subtypes of an edge that has others, too. Older edges have none.
ALTER TABLE CONTRIBUTES ADD partly_masking STRING[];
ALTER TABLE CONTRIBUTED ADD partly_masking STRING[];
ALTER TABLE `REFERENCES` ADD partly_masking STRING[];
ALTER TABLE REFERENCED ADD partly_masking STRING[];
MATCH (m:Meta {key: 'schema'}) SET m.version = 20;
