"""What kernels become when compiled for an architecture that is not at hand: registers, memory, instructions.

Needs no GPU and no driver; ``pip install 'pytest-roofline[compiled]'`` brings the compilers.
"""
