"""Log files to rows: formats, compression, types, times."""
