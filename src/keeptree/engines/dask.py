"""Score data frames of Dask, partition by partition."""

from keeptree.engines.pandas import add_answers, text_columns
from keeptree.output import require_extra


def score(table, request):
    """Return a data frame that is computed by Dask when it is used; its divisions stay.

    The model is a task of its own, so that it is sent to each worker once.
    """
    from dask import delayed
    from dask.dataframe.utils import make_meta

    require_extra("pandas", "pyarrow", extra="dask")
    request = request.packed()
    scorer = request.scorer(table.columns)
    scorer.check_types(text_columns(table))
    # Made from no rows: else Dask would call the function with rows of its own invention.
    empty = add_answers(make_meta(table), scorer)
    return table[scorer.wanted].map_partitions(_score_part, delayed(request), meta=empty)


def _score_part(frame, request):
    return add_answers(frame, request.scorer(frame.columns))
