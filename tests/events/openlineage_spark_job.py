"""A Spark job for the OpenLineage agent: an aggregate, a CASE, a join and a filter. Arguments: a folder."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    folder = sys.argv[1]
    spark = SparkSession.builder.getOrCreate()
    spark.createDataFrame([(1, "Ana", "AT"), (2, "Bo", "DE")], "id int, name string, country string").write.parquet(
        f"{folder}/customers"
    )
    spark.createDataFrame(
        [(1, 1, 5.0), (2, 1, 7.5), (3, 2, 1.0)], "order_id int, customer_id int, amount double"
    ).write.parquet(f"{folder}/orders")
    for name in ("customers", "orders"):
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    spark.sql(
        """SELECT c.name, CASE WHEN c.country = 'AT' THEN 'home' ELSE 'abroad' END AS where_from, sum(o.amount) AS total
           FROM customers c JOIN orders o ON c.id = o.customer_id WHERE o.amount > 2
           GROUP BY c.name, c.country"""
    ).write.parquet(f"{folder}/totals")
    spark.stop()
