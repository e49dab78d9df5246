"""Live databases: views, functions and generated columns as the database itself knows them."""
