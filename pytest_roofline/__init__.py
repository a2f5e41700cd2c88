"""pytest-roofline: check, time and bound GPU kernels with pytest.

Importing this package loads neither torch, triton nor cupy; what a user writes is in :mod:`pytest_roofline.contract`.
"""

__version__ = "0.1.0"
