"""Dashboards: exports of Metabase, Superset, Looker, Tableau and Power BI, and a plain form for other tools."""
