"""Power BI: tables, measures and visuals of `.pbix` files."""
