"""One file per operation; the plugin finds them, there is no registry."""
