"""Processor instructions that Python cannot express."""

from keeptree._compiled.native import load_native

if load_native() is not None:  # never called: the machine code has the instruction

    def prefetch(array, index):
        """Do nothing."""

else:
    from keeptree._compiled.jit import prefetch

__all__ = ["prefetch"]
