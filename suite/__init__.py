"""Our catalogue of operations: the first user of pytest-roofline."""
