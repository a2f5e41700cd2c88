"""Reports: functions from results to lines, pages and plots; only the edge prints."""


class ReportUnavailableError(RuntimeError):
    """A package that a report needs is not installed; the message says how to get it."""
