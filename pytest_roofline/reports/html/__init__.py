"""One self-contained page: every figure of a run, drawn by the scripts in ``assets``, nothing from a network."""

from pytest_roofline.reports.html.page import render as render
