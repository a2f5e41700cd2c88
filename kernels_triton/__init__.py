"""The Triton kernels of the suite, one file per operation."""
