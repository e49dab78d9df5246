"""The routes of the service, and what guards all of them."""
