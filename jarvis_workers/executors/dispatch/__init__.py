"""The Celery executor: its app, tasks, sender and pools. Only this package imports celery, kombu and redis."""
