"""Pages that need no service: the explorer in one file, and a site with a page of each table."""
