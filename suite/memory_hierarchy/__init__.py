"""The memory hierarchy of the GPU at hand, from a run of the probes, with what is published of an A100 beside it.

    pytest -k "bandwidth or shared_stride or chase or occupancy or launch or upload or download or exchange" \\
        --benchmark-only --benchmark-json=probes.json
    python -m suite.memory_hierarchy probes.json

Every figure says what it is: measured (in that run), published (with its source) or derived (with its formula). A
bandwidth is the bytes that the operation declares over the typical time of the fastest kernel; a latency is the
difference of two chases over the difference of their steps, so that the launch and the first round cancel.

Figures of an A100 are of the card in the head of their column unless they name another. They stand in ``levels`` and
not in ``baselines/a100``, which takes published times of the cases of an operation: these are of other programs, and
most are of no shape that an operation has.
"""
