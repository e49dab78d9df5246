"""`python -m tests.store.kept_version VERSION`: keep a store of the present version for the tests of later ones.

It is written into tests/data/stores as a file of SQLite and as an export. Do so once at each release, and do not write
a kept one again: what a version wrote must open for ever.
"""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from lineage.store import open_store
from lineage.store.moving import export_store
from lineage_ingest.api import ingest_sql
from lineage_ingest.openlineage import EventIngest
from lineage_ingest.options import SqlOptions
from tests.service.events_of_runs import events_of
from tests.store.random_batches import random_batch

FOLDER = Path(__file__).parent.parent / "data" / "stores"

_SQL = """
create table shop.orders (id int, customer int, amount numeric, note text);
create view shop.paid as select id, customer, amount from shop.orders where note <> 'void';
create view shop.totals as select customer, sum(amount) as total, md5(max(note)) as mark from shop.orders group by 1;
create view shop.best as select t.customer, case when t.total > 9 then p.amount end as amount
  from shop.totals t join shop.paid p using (customer) order by 2 limit 5;
"""


def fill(path: Path) -> None:
    """Make a store with all that the graph may hold, from input that does not change."""
    chance = random.Random(7)
    with open_store(path) as store, tempfile.TemporaryDirectory() as folder:
        for _ in range(25):
            store.apply(random_batch(chance))
        (Path(folder) / "shop.sql").write_text(_SQL)
        at = datetime(2026, 2, 1, tzinfo=UTC)
        options = SqlOptions(dialect="postgres", project="shop", project_root=Path(folder), observed_at=at)
        ingest_sql([folder], options=options, store=store)
        EventIngest(store).take([event for run in range(1, 6) for event in events_of(run)])


def main() -> int:
    """Keep what the command line names."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    kept = FOLDER / f"{sys.argv[1]}.db.gz"
    if kept.exists():
        print(f"{kept} is there already")
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        fill(path)
        kept.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
        export_store(str(path), FOLDER / f"{sys.argv[1]}.jsonl.gz", lambda *_: None)
    print(f"{kept}: {kept.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
