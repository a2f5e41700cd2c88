"""``python -m pytest_roofline.cli``: the command where its script is not on the path."""

from pytest_roofline.cli import main

main()
