"""Measure again, in fresh processes, what a run could not clear: beside the old kernel, or alone without one."""
