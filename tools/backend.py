"""Build backend: hatchling, plus a step that builds the machine code before a wheel.

Building a wheel needs numba and a C compiler, but an editable installation needs neither. The
requirements of a wheel are therefore stated here instead of in pyproject.toml.
"""

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import build_native
from hatchling import build as hatchling
from hatchling.build import (  # noqa: F401 - the hooks that pip looks for
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)


def get_requires_for_build_wheel(config_settings=None):
    """Return hatchling's requirements and those of the machine code."""
    requires = hatchling.get_requires_for_build_wheel(config_settings)
    return [*requires, *build_native.REQUIRES]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build the machine code unless it is up to date, then the wheel.

    If the machine code cannot be built, for instance without a C compiler, the wheel is pure Python
    and depends on numba; with ``KEEPTREE_NATIVE=1`` this is an error.
    """
    try:
        build_native.build_missing(build_native.all_levels())
    except (ImportError, OSError, RuntimeError) as error:
        if os.environ.get("KEEPTREE_NATIVE") == "1":
            raise
        warnings.warn(f"{error} The wheel has no machine code and needs numba.", stacklevel=2)
    return hatchling.build_wheel(wheel_directory, config_settings, metadata_directory)
