"""Wiring of this repository only: the plugin comes from the source tree where it is not installed."""

pytest_plugins = ["pytest_roofline.plugin"]
