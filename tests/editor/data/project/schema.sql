CREATE TABLE shop.orders (id int, amount numeric, customer_id int, placed_at date);
CREATE TABLE shop.customers (id int, email text, country text);
