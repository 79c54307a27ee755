"""Shared style of the papers' figures; drawing a figure twice gives the same file."""

from contextlib import contextmanager

INK, MUTED = "#1f2328", "#57606a"
BLUE, ORANGE, GREY, GREEN = "#0b62a8", "#c2500a", "#8a929b", "#2f7d4f"
_STYLE = {
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.hashsalt": "keeptree",
    "svg.fonttype": "path",
}


@contextmanager
def figure(path, **options):
    """Yield a figure and its axes in our style; save it as SVG when done.

    Parameters
    ----------
    path : Path
        File to write.
    **options
        Options of ``matplotlib.pyplot.subplots``.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        rows, columns = options.pop("nrows", 1), options.pop("ncols", 1)
        shared = {key: options.pop(key) for key in ("sharex", "sharey") if key in options}
        drawing = Figure(layout="constrained", **options)
        # Without pyplot, the user's backend and open windows are not affected.
        FigureCanvasSVG(drawing)
        yield drawing, drawing.subplots(rows, columns, **shared)
        drawing.savefig(path, metadata={"Date": None})
