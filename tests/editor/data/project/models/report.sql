CREATE VIEW mart.report AS
SELECT total AS revenue, customer_id FROM mart.revenue;
