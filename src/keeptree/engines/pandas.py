"""Score data frames of pandas."""


def score(table, request):
    """Return a data frame with the answers beside the kept columns; the index stays."""
    scorer = request.scorer(table.columns)
    scorer.check_types(text_columns(table))
    return add_answers(table, scorer)


def add_answers(frame, scorer):
    """Return the kept columns of a data frame with the answers of a TableScorer."""
    return frame[scorer.kept].assign(**scorer.score_frame(frame))


def text_columns(frame):
    """Names of the columns that pandas declares as text."""
    return [name for name, dtype in frame.dtypes.items() if str(dtype).startswith("str")]
