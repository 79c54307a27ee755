"""Numba kernels: free functions over arrays; the caller allocates, the kernel fills."""
