"""Kill a worker while it scores, and check that no row is lost.

Run ``python -m tools.kill_worker ray spark``. These engines take seconds to notice a dead worker,
so this is not part of the tests. Dask is faster and has its own test.
"""

import argparse
import os
import tempfile
from pathlib import Path

import keeptree as kt
from tests.engines.clusters import CLUSTERS
from tests.engines.tables import check_scored, fitted, new_cases

ROWS, VICTIM = 300, "case 100"


def main():
    """Score on each engine while one of its workers is killed; fail unless all rows are scored."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("engine", nargs="+", choices=CLUSTERS)
    model, cases = fitted(), new_cases(ROWS)
    for engine in parser.parse_args().engine:
        start, to_table, to_frame = CLUSTERS[engine]
        with tempfile.TemporaryDirectory() as folder, start(retries=True) as running:
            mark = Path(folder) / "killed"
            table = to_table(running, [cases[:100], cases[100:200], cases[200:]])
            scored = kt.score(model, _DYING[engine](table, str(mark)))
            check_scored(to_frame(scored), model, cases)
            if not mark.exists():
                raise AssertionError(f"no worker of {engine} was killed")
        print(f"{engine}: a worker was killed, and all {ROWS} rows were scored", flush=True)


def die_once(ids, mark):
    """End this process if it has received row ``VICTIM``, but only once."""
    if VICTIM in ids and not Path(mark).exists():
        Path(mark).touch()
        os._exit(1)


def _dying_ray(table, mark):
    def read(block):
        die_once(block.column("id").to_pylist(), mark)
        return block

    return table.map_batches(read, batch_format="pyarrow", batch_size=None)


def _dying_spark(table, mark):
    def read(batches):
        for batch in batches:
            die_once(batch.column("id").to_pylist(), mark)
            yield batch

    return table.mapInArrow(read, table.schema)


def _dying_dask(table, mark):
    def read(frame):
        die_once(frame["id"].tolist(), mark)
        return frame

    return table.map_partitions(read, meta=new_cases(1).iloc[:0])


_DYING = {"dask": _dying_dask, "ray": _dying_ray, "spark": _dying_spark}

if __name__ == "__main__":
    main()
