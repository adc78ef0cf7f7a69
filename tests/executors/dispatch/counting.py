"""A pool process for tests: increments each counter in a directory, reports it, and waits for the end of its input."""

import sys

from jarvis_workers.agents.conversations.observer import JobExecution, ObservedCall
from jarvis_workers.executors.dispatch.pool_metrics import PoolMetrics
from jarvis_workers.models.platforms.protocol import TokenUsage
from jarvis_workers.store.values import Claimed

JOB = Claimed(1, "r1", "scan", "scan", "scan", 1, "src/secret.c", "{}", 0, 0)

if __name__ == "__main__":
    metrics = PoolMetrics.start(sys.argv[1])
    metrics.job_ended(JobExecution(JOB, "done", began=0.0, seconds=2.0, size=16_000_000))
    metrics.job_ended(JobExecution(JOB, "failed", began=0.0, seconds=1.0))
    metrics.conversation_opened(JOB)
    usage = TokenUsage(prompt=100, completion=10, cached=40)
    metrics.model_called(ObservedCall(JOB, "openai", "large", "answered", 0.0, 3.0, usage, cost=0.25))
    metrics.model_called(ObservedCall(JOB, "openai", "large", "failed", 0.0, 3.0, error="ModelRefused"))
    metrics.throttled("large")
    sys.stdout.write("counted\n")
    sys.stdout.flush()
    sys.stdin.read()
