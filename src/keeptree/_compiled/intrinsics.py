"""Instructions that Python has no word for."""

from keeptree._compiled.native import load_native

if load_native() is not None:  # what the functions built ahead of time contain; never called

    def prefetch(array, index):
        """Do nothing."""

else:
    from keeptree._compiled.jit import prefetch

__all__ = ["prefetch"]
