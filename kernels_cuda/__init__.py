"""The CUDA C++ kernels of the suite, one folder per operation: launchers in its ``__init__``, one idea per ``.cu``."""
