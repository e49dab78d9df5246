"""What the warehouse itself enforces and knows."""
