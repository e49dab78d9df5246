"""PostgreSQL: `ingest.py` first; `reading.py` reads its catalog, `stated_texts.py` makes SQL of it."""
