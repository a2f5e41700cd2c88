"""Kernels on a machine without a GPU: Triton through its interpreter, CUDA C++ on the host."""
