"""The web page and its JSON API: runs, findings, triage. A layer above the service, over Flask and waitress."""
