"""``python -m keeptree`` is the command ``keeptree``."""

from keeptree.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
