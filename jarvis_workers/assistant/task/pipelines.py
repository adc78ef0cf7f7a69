"""The kind of run of an agent's task."""

from jarvis_workers.pipeline.stages import RunKind, Stage, register_kind
from jarvis_workers.store.values import AGENT_QUEUE

CONVERSE = "jarvis_workers.assistant.task.converse"
STAGES = (Stage("converse", module=CONVERSE, queue=AGENT_QUEUE, state_if_failed="incomplete"),)

register_kind(
    RunKind(
        "agent",
        STAGES,
        output="jarvis_workers.assistant.commands.agent_run",
        result="jarvis_workers.runs.conversations",
    )
)
