"""Read the metadata and Parquet files of a saved Spark ML model, without Spark."""

import re
from dataclasses import dataclass
from pathlib import Path

from keeptree.output import require_extra

_MOST_METADATA = 64 << 20
_MOST_ROWS, _MOST_VALUES = 2_000_000, 64_000_000


@dataclass(frozen=True)
class Saved:
    """A saved Spark model or transformer.

    Attributes
    ----------
    path : Path
        Folder of the model.
    metadata : dict
        Class, parameters and version of Spark.
    """

    path: Path
    metadata: dict

    @property
    def name(self):
        """Name of its class, such as ``DecisionTreeClassificationModel``."""
        return str(self.metadata["class"]).rpartition(".")[2]

    @property
    def stage(self):
        """Class and identifier, for messages."""
        return f"{self.name} ({self.metadata.get('uid')!s:.80})"

    def get(self, name, default=None):
        """Return a parameter, or Spark's default."""
        given = self.metadata.get("paramMap", {})
        return given.get(name, self.metadata.get("defaultParamMap", {}).get(name, default))

    def rows(self, folder="data"):
        """Return the rows of a Parquet folder as dicts."""
        return _read_parquet(self.path / folder)


def is_spark_folder(path):
    """Return whether a folder looks like a saved Spark ML model."""
    return (path / "metadata").is_dir()


def open_saved(path):
    """Open a saved model; for a search, its best model."""
    from keeptree.importers.files import parse_json  # imported here to avoid a cycle

    parts = _parts(path / "metadata")
    if not parts:
        raise ValueError(
            f"{path} has no metadata of Spark ML: its file 'metadata/part-...' is missing."
        )
    if parts[0].stat().st_size > _MOST_METADATA:
        raise ValueError(f"{parts[0]} is too large for the metadata of a model.")
    metadata = parse_json(parts[0].read_bytes(), parts[0])
    if not isinstance(metadata, dict) or not isinstance(metadata.get("class"), str):
        raise ValueError(f"{parts[0]} does not name the class of a Spark model.")
    saved = Saved(path, metadata)
    if saved.name in ("CrossValidatorModel", "TrainValidationSplitModel"):
        return open_saved(path / "bestModel")
    return saved


def open_stages(saved):
    """Return the fitted stages of a pipeline, including nested pipelines.

    For a model outside a pipeline, the model itself is the only stage.
    """
    if saved.name != "PipelineModel":
        return [saved]
    folder = saved.path / "stages"
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        number = re.match(r"(\d{1,6})_", path.name)
        if number is not None and path.is_dir():
            found[int(number[1])] = path
    expected = len(saved.metadata["paramMap"]["stageUids"])
    if sorted(found) != list(range(expected)):
        raise ValueError(
            f"{saved.path} is incomplete: the pipeline has {expected} stages, but 'stages' holds "
            f"{len(found)} of them."
        )
    stages = [open_saved(found[number]) for number in range(expected)]
    return [inner for stage in stages for inner in open_stages(stage)]


def _parts(folder):
    return sorted(folder.glob("part-*")) if folder.is_dir() else []


def _read_parquet(folder):
    require_extra("pyarrow", extra="files")
    from pyarrow import ArrowException

    parts = _parts(folder)
    if not parts:
        raise ValueError(f"{folder} is missing or holds no Parquet file.")
    try:
        return [row for part in parts for row in _read_part(part)]
    except (ArrowException, OSError) as error:
        raise ValueError(f"{folder} holds damaged Parquet files ({error!s:.100}).") from None


def _read_part(path):
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        about = file.metadata
        values = sum(
            about.row_group(g).column(c).num_values
            for g in range(about.num_row_groups)
            for c in range(about.num_columns)
        )
        if about.num_rows > _MOST_ROWS or values > _MOST_VALUES:
            raise ValueError(f"{path} holds more values than a tree has.")
        return file.read(use_threads=False).to_pylist()
