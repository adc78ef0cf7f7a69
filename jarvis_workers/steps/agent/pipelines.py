"""The pipeline of an agent's task."""

from jarvis_workers.pipeline.stages import Stage, register_pipeline
from jarvis_workers.store.values import AGENT_QUEUE

register_pipeline("agent", [Stage("converse", module="jarvis_workers.steps.agent.converse", queue=AGENT_QUEUE)])
