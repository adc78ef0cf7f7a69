"""The web interface and its JSON API: runs, findings, triage. Alone imports flask and waitress."""
