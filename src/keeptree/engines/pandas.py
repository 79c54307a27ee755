"""Score data frames of pandas."""

from keeptree.engines.tally import ROWS, count_batches


def score(table, request):
    """Return a data frame with the kept columns and the answers; the index is preserved."""
    scorer = request.scorer(table.columns)
    scorer.check_types(text_columns(table))
    return add_answers(table, scorer)


def add_answers(frame, scorer):
    """Return the kept columns of a data frame with the answers of a TableScorer."""
    return frame[scorer.kept].assign(**scorer.score_frame(frame))


def text_columns(frame):
    """Names of the columns that pandas declares as text."""
    return [name for name, dtype in frame.dtypes.items() if str(dtype).startswith("str")]


def names_of(table):
    """Columns of the table."""
    return list(table.columns)


def tally(table, survey):
    """Count a data frame; see :mod:`keeptree.engines.tally`."""
    return tally_frame(table[survey.wanted], survey)


def tally_frame(frame, survey, part=0):
    """Count a data frame that is a part of a table."""
    import pyarrow as pa

    table = pa.Table.from_pandas(frame[survey.wanted], preserve_index=False)
    return count_batches(table.combine_chunks().to_batches(max_chunksize=ROWS), survey, part)
