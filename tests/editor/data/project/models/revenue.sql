CREATE TABLE mart.revenue AS
WITH paid AS (SELECT * FROM stage.orders WHERE gross > 0),
     by_customer AS (SELECT customer_id, sum(gross) AS total, count(*) AS n FROM paid GROUP BY customer_id)
SELECT b.customer_id, b.total, b.n FROM by_customer AS b;
