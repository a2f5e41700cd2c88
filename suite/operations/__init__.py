"""One operation per file, found by its name."""
