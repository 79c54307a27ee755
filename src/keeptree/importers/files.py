"""Choose the importer for a file or text by its content."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from keeptree.data.files import is_known_ending
from keeptree.importers.spark_folder import is_spark_folder
from keeptree.importers.written import looks_written

_HEAD = 4096
_UBJSON = rb"\{[$#LlIiUdD]"
_MOST_BYTES = 1 << 30
# A malicious file of a few megabytes can expand to gigabytes, so values are counted before parsing.
_MOST_LINES = 500_000
_MOST_CONTAINERS, _MOST_VALUES = 2_000_000, 8_000_000


@dataclass(frozen=True)
class Source:
    """Content of a file or text and its importer.

    Attributes
    ----------
    importer : str
        Importer as ``"file:function"`` in ``keeptree.importers``.
    content : object
        Argument of the function: text, bytes, a JSON document or a path.
    name : str or None
        Path for messages; None for text.
    """

    importer: str
    content: object
    name: str | None


def open_source(source):
    """Return the Source of a path, of text or of bytes."""
    if isinstance(source, bytes | bytearray | memoryview):
        return _content_source(bytes(source), None)
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith(":")):
        return _text_source(source, None)
    path = Path(source).expanduser()
    if "\0" not in str(path) and path.is_dir():
        if is_spark_folder(path):
            return Source("spark:read_folder", path, str(path))
        raise ValueError(
            f"{path} is a folder; give the path of a file that holds a tree, or of a "
            "folder in which Spark ML saved one."
        )
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        if isinstance(source, str) and looks_written(source):
            return _text_source(source, None)
        reason = (getattr(error, "strerror", None) or "no such file").lower()
        raise FileNotFoundError(
            f"{source!s:.200} cannot be opened ({reason}); give the path of a tree, or its text."
        ) from None
    if size > _MOST_BYTES:
        raise ValueError(
            f"{path} has {size:,} bytes, which is too large for a tree; save a single tree."
        )
    return _file_source(path)


def is_keeptree_file(path):
    """Return whether a file is KeepTree's own JSON, or JSON of an unknown kind."""
    content = Path(path).read_bytes()
    head = content[:_HEAD].lstrip()
    if re.match(rb'\{\s*"format"', head):  # a file that KeepTree wrote starts like this
        return True
    is_json = head[:1] == b"{" or Path(path).suffix.lower() == ".json"
    if not is_json or re.match(_UBJSON, head):
        return False
    try:
        document = parse_json(content, path)
    except ValueError:
        return False
    return not (isinstance(document, dict) and (_JSON.keys() - {"format"}) & document.keys())


def _file_source(path):
    content, ending = path.read_bytes(), path.suffix.lower()
    if is_known_ending(ending) and not _may_be_tree(content, ending):
        raise ValueError(
            f"{path} is a table of cases, not a tree; grow a tree from it with keeptree grow "
            f"{path} --target COLUMN, or keep a tree's own file and give this one as --data."
        )
    return _content_source(content, str(path), _ENDINGS.get(ending))


def _may_be_tree(content, ending):
    """Return whether the first line of a file that is named like a table is a branch of a tree."""
    if ending == ".txt":
        return True
    first = content.split(b"\n", 1)[0].decode("utf-8", "replace")
    return ending in (".csv", ".tsv") and looks_written(first)


def _content_source(content, path, importer=None):
    """Return the Source of bytes; ``importer`` is the one that the file name suggests."""
    name = path or "The content"
    head = content[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise ValueError(f"{name} is empty.")
    found = (address for start, address in _BINARY.items() if re.match(start, head, re.DOTALL))
    importer = next(found, importer)
    if importer is not None:
        if importer.startswith("!"):
            raise ValueError(f"{name} {importer[1:]}")
        return Source(importer, content, path)
    if head[:1] in b"{[":
        return _json_source(content, name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name} is neither text nor a format that KeepTree reads; the guide lists these under "
            "'Open any tree'."
        ) from None
    return _text_source(text, path)


# First bytes of a file -> importer, or (after !) the reason for refusing it.
_BINARY = {
    rb"<|\xff\xfe<\0|\xfe\xff\0<": "pmml:read_xml",
    rb"\x08[\x01-\x20][\x12\x1a\x22\x28\x32\x3a\x42]": "onnx:read_bytes",
    _UBJSON: "xgboost:read_ubjson",
    rb"CBM1": "!is CatBoost's binary format; save the model with format='json' and pool=.",
    rb"\x80[\x02-\x05]": (
        "!is a pickle, which can run any code when it is loaded; load it yourself and give the "
        "model to kt.keep."
    ),
    rb"\x1f\x8b|RDX|BZh|\xfd7zXZ": (
        "!is compressed, such as R's .rds and .RData; in R, write the tree with the script that "
        "`keeptree keep --r-script` prints."
    ),
    rb"binf": "!is XGBoost's old binary format; load it in XGBoost and save it as .json or .ubj.",
    rb"PK\x03\x04": "!is a zip archive; give the file in it that holds the tree.",
}

# File extension -> importer, if the content is not recognised.
_ENDINGS = {".onnx": "onnx:read_bytes", ".pmml": "pmml:read_xml"}

# Pattern in a text -> importer.
_TEXTS = {
    r"\A\s*<(\?xml|!|\w+[:\s>])": "pmml:read_xml",
    r"\Atree\s*\nversion=": "lightgbm:read_text",
    r"^J48 (un)?pruned tree": "j48:read_text",
    r'\Aid="(See5|C5\.0)': "c50:read_tree",
    r"^(C5\.0|See5) \[Release": "c50_text:read_text",
}


def _text_source(text, name):
    if text.count("\n") + text.count("\r") > _MOST_LINES:
        raise ValueError(
            f"{name or 'The text'} has more than {_MOST_LINES:,} lines, too many for a tree."
        )
    for pattern, importer in _TEXTS.items():
        if re.search(pattern, text[:1_000_000], re.MULTILINE):
            # The importer also reads the .names file beside it.
            beside = importer == "c50:read_tree" and name is not None
            return Source(importer, Path(name) if beside else text, name)
    return Source("written:read_written", text, name)


def parse_json(content, name):
    """Parse JSON bytes; damaged or oversized documents raise a ValueError."""
    containers = content.count(b"[") + content.count(b"{")
    if containers > _MOST_CONTAINERS or content.count(b",") > _MOST_VALUES:
        raise ValueError(f"{name} holds more values than a tree has; save one tree alone.")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply to be a tree.") from None
    except ValueError as error:
        position = getattr(error, "pos", 0)
        text = getattr(error, "doc", "")
        if text and position >= len(text.rstrip()):
            raise ValueError(f"{name} ends unexpectedly; it may have been cut off.") from None
        place = f" in line {error.lineno}" if hasattr(error, "lineno") else ""
        raise ValueError(f"{name} is not JSON{place}.") from None


def _json_source(content, path):
    document = parse_json(content, path)
    for key, importer in _JSON.items():
        if isinstance(document, dict) and key in document:
            return Source(importer, document, str(path))
    raise ValueError(
        f"{path} is JSON, but not a tree that KeepTree reads; expected a Tree of KeepTree, a model "
        "of XGBoost, or what KeepTree's R script writes."
    )


# Key that only this kind of document has -> importer.
_JSON = {
    "keeptree_r": "r_trees:read_document",
    "keeptree_c50": "c50:read_document",
    "format": "keeptree_file:read_document",
    "learner": "xgboost:read_document",
    "features_info": "catboost:read_document",
}
