"""Shared helpers of the displays: axes, colours and style."""

from keeptree.output import require_extra

BLUE, ORANGE, GREY, LIGHT = "#0b62a8", "#c2500a", "#57606a", "#8a929b"
# Colours of series, in order of use.
SERIES = (GREY, "#e08a00", "#2f9e6e", BLUE, "#b5459b", "#4bb4e6", ORANGE, "#7a5cc4", "#111418",
          "#9a8c00")  # fmt: skip


def new_panels(n, columns, size, **options):
    """Return a new figure with n axes in rows of ``columns``.

    Parameters
    ----------
    n : int
        Number of axes.
    columns : int
        Number of columns.
    size : tuple of float
        Approximate width and height of each in inches.
    **options
        Passed to ``matplotlib.pyplot.subplots``.

    Returns
    -------
    figure : matplotlib figure
        The new figure.
    axes : ndarray of n matplotlib axes
        Its axes, row by row.
    """
    require_extra("matplotlib", extra="plot")
    import matplotlib.pyplot as plt

    columns = min(n, columns)
    rows = -(-n // columns)
    figsize = (size[0] * columns + 0.8, size[1] * rows + 0.5)
    figure, axes = plt.subplots(
        rows, columns, figsize=figsize, layout="constrained", squeeze=False, **options
    )
    for ax in axes.ravel()[n:]:
        ax.set_visible(False)
    return figure, axes.ravel()[:n]


def new_axes(size):
    """Return the axes of a new figure, about ``size`` inches."""
    return new_panels(1, 1, size)[1][0]


def plain_frame(ax, *hidden):
    """Hide the top and right spines, and any others given."""
    ax.spines[["top", "right", *hidden]].set_visible(False)


def unit_square(ax, margin):
    """Set both axes to [0, 1] on a square, with the diagonal."""
    ax.plot([0, 1], [0, 1], color=LIGHT, linewidth=0.8, linestyle=":", zorder=0)
    ax.set(xlim=(-margin, 1 + margin), ylim=(-margin, 1 + margin), aspect="equal")
    plain_frame(ax)
