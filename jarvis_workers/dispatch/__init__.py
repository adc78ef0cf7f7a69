"""Carry jobs to workers: the Celery app, its tasks, sending, pools. Alone knows celery, kombu and redis."""
