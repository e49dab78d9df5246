"""LookML: views, derived tables, explores and LookML dashboards of a project."""
