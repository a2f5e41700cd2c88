"""Library routines timed beside the kernels, one file per operation: what a user would call instead.

Results go into the caller's tensors. Scratch memory that a library insists on comes from torch's allocator, whose
private pool makes it safe inside a captured CUDA graph.
"""
