"""Cloud warehouses' query histories."""
