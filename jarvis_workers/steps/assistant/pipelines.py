"""The pipelines of the assistant."""

from jarvis_workers.pipeline.stages import Stage, register_pipeline
from jarvis_workers.store.values import AGENT_QUEUE

CODE = "code"
CHANGE_CODE = "jarvis_workers.steps.assistant.change_code"
TEAM_JOB = "jarvis_workers.steps.assistant.team_job"

register_pipeline(CODE, [Stage("code", module=CHANGE_CODE, queue=AGENT_QUEUE, state_if_failed="incomplete")])
register_pipeline("team", [Stage("team", module=TEAM_JOB, queue=AGENT_QUEUE, state_if_failed="incomplete")])
