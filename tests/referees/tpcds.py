"""TPC-DS's truth against another reading of Spark's analysed plans: `python -m tests.referees.tpcds`.

Exit codes: 0 each column that both know agrees, 1 otherwise. Each query is analysed over empty tables, nothing runs.
"""

from __future__ import annotations

import json
import sys

from tests.referees.reading import Reading
from tests.referees.spark_plan import UnreadPlanError
from tests.referees.spark_session import SparkAnalyser, running_spark
from tests.soundness.experiment import RejectedError
from tests.truth.compare import DATA, read_truth


def main() -> int:
    """Print which queries and columns were compared, and the differences."""
    truth = read_truth("tpcds")
    columns, found, unread = 0, list[str](), list[str]()
    with running_spark() as spark:
        _create_tables(spark)
        for name in truth:
            text = (DATA / "tpcds" / f"{name}.sql").read_text(encoding="utf-8").strip().rstrip(";")
            try:
                [reading] = spark.analyse(text)
            except (RejectedError, UnreadPlanError) as error:
                unread.append(f"{name} ({error})")
                continue
            columns += len(truth[name])
            found += [f"{name}.{problem}" for problem in _differences(reading, truth[name])]
    print(f"{len(truth) - len(unread)} of {len(truth)} queries, {columns} columns, {len(found)} differ")
    print(*(f"  {problem}" for problem in found), sep="\n" if found else "")
    if unread:
        print(f"not read: {', '.join(unread)}")
    return 1 if found else 0


def _create_tables(spark: SparkAnalyser) -> None:
    schema = json.loads((DATA / "tpcds" / "schema.json").read_text(encoding="utf-8"))
    spark.run("CREATE DATABASE tpcds")
    spark.run("USE tpcds")
    for table, types in schema.items():
        listed = ", ".join(f"`{column}` {kind}" for column, kind in types.items())
        spark.run(f"CREATE TABLE `{table}` ({listed}) USING parquet")


def _differences(reading: Reading, columns: dict[str, dict[str, list[str]]]) -> list[str]:
    names = [name.lower() for name in reading.columns or ()]
    read = dict(zip(names, reading.sources or (), strict=True))
    found = [f"{name}: not in the plan" for name in columns.keys() - read.keys()]
    for name in columns.keys() & read.keys():
        must, may = (frozenset(columns[name][key]) for key in ("must", "may"))
        found += [f"{name}: {source} is missing in the plan" for source in sorted(must - read[name])]
        found += [f"{name}: {source} is missing in the truth" for source in sorted(read[name] - must - may)]
    return found


if __name__ == "__main__":
    sys.exit(main())
