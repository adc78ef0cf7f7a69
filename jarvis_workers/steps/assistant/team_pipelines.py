"""The pipeline of a team's task."""

from jarvis_workers.pipeline.stages import Stage, register_pipeline
from jarvis_workers.store.values import AGENT_QUEUE

TEAM_JOB = "jarvis_workers.steps.assistant.team_job"

register_pipeline("team", [Stage("team", module=TEAM_JOB, queue=AGENT_QUEUE, state_if_failed="incomplete")])
