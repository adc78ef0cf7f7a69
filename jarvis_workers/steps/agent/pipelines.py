"""The pipeline of an agent's task."""

from jarvis_workers.pipeline.stages import Stage, register_pipeline
from jarvis_workers.store.values import AGENT_QUEUE

CONVERSE = "jarvis_workers.steps.agent.converse"

register_pipeline("agent", [Stage("converse", module=CONVERSE, queue=AGENT_QUEUE, state_if_failed="incomplete")])
