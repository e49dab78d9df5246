"""Live databases: addresses without their secrets, sessions, and the schemas of tables that a database knows."""
