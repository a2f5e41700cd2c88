"""Reports: functions from results to lines; only the edge prints."""
