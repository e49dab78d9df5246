"""The demo: MIMIC-IV's derived tables, 65 real clinical SQL scripts, and two questions to their lineage."""
