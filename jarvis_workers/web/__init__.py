"""The web interface and its JSON API: runs, findings, triage. This layer above the service uses Flask and waitress."""
