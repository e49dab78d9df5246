"""Tableau: data sources, worksheets and dashboards of workbooks (`.twb`, `.twbx`)."""
