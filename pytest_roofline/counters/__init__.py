"""Hardware counters of a GPU, on request, by Nsight Compute in a process of its own after everything was timed."""
