"""Score data frames of Dask, partition by partition."""

import os
from contextlib import contextmanager, nullcontext

from keeptree.engines.pandas import add_answers, tally_frame, text_columns
from keeptree.engines.tally import merge
from keeptree.engines.writing import part_name
from keeptree.output import require_extra

_AT_ONCE = 8  # tallies that are merged by one task


def score(table, request):
    """Return a lazy Dask data frame with the same divisions.

    The model is a separate task, so that it is sent to each worker only once.
    """
    from dask import delayed
    from dask.dataframe.utils import make_meta

    require_extra("pandas", "pyarrow", extra="dask")
    request = request.packed()
    scorer = request.scorer(table.columns)
    scorer.check_types(text_columns(table))
    # Made from an empty frame; otherwise Dask would call the function with made-up rows.
    empty = add_answers(make_meta(table), scorer)
    return table[scorer.wanted].map_partitions(_score_part, delayed(request), meta=empty)


@contextmanager
def open_data(data, options):
    """Yield the data frame of Parquet or CSV files; ``scheduler`` is the address of a cluster."""
    require_extra("dask.dataframe", "distributed", "pandas", "pyarrow", extra="dask")
    import dask.dataframe

    options = dict(options)
    with _client(options.pop("scheduler", None)):
        if data.kind == ".csv":
            types = dict.fromkeys(data.text, "string")
            # The fast parser of pandas gets the last digit of some numbers wrong.
            settings = {"dtype": types, "float_precision": "round_trip", **options}
            table = dask.dataframe.read_csv(data.files, **settings)
        else:
            # Otherwise each file is one partition, regardless of its size.
            settings = {"split_row_groups": "adaptive", **options}
            table = dask.dataframe.read_parquet(data.files, **settings)
        yield table, {}


def write(table, folder):
    """Write a data frame to Parquet files in a folder, one for each partition."""
    table.to_parquet(str(folder), write_index=False, name_function=part_name)


def _client(address):
    """The client of a cluster; without one, Dask uses threads of this process."""
    if address is None and "DASK_SCHEDULER_ADDRESS" not in os.environ:
        return nullcontext()
    from distributed import Client

    return Client(address, timeout="20s")


def _score_part(frame, request):
    return add_answers(frame, request.scorer(frame.columns))


def names_of(table):
    """Columns of the table."""
    return list(table.columns)


def tally(table, survey):
    """Count on the workers; tallies are merged there, a few at a time."""
    from dask import delayed

    sent = delayed(survey)
    parts = table[survey.wanted].to_delayed()
    found = [delayed(tally_frame)(part, sent, number) for number, part in enumerate(parts)]
    while len(found) > 1:
        groups = [found[k : k + _AT_ONCE] for k in range(0, len(found), _AT_ONCE)]
        found = [delayed(_merge)(group, sent) for group in groups]
    return found[0].compute()


def _merge(tallies, survey):
    return merge((tally for tally in tallies if tally is not None), survey)
