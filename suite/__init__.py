"""The catalogue: operations, their kernels' tests and benchmarks. The plugin's first user."""
