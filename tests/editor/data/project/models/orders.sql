CREATE VIEW stage.orders AS
SELECT o.id, o.amount * 1.19 AS gross, o.customer_id, md5(c.email) AS mail
FROM shop.orders AS o
JOIN shop.customers AS c ON c.id = o.customer_id;
