"""The Celery executor: the app, its tasks, sender and pools. Only this package imports celery, kombu and redis."""
