"""Tag a wheel with the Python version and the platform of its machine code."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeWheel(BuildHookInterface):
    """Hook that hatchling calls before it builds a wheel."""

    def initialize(self, version, build_data):
        """Set the tag if there is machine code; otherwise require numba to compile it."""
        manifest = Path(self.root, "src", "keeptree", "_compiled", "native.json")
        if version == "standard" and manifest.exists():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
        elif version == "standard":
            build_data["dependencies"].append("numba>=0.60")
