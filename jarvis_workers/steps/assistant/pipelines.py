"""The kinds of runs of the assistant."""

from jarvis_workers.pipeline.stages import RunKind, Stage, register_kind
from jarvis_workers.store.values import AGENT_QUEUE

CODE = "code"
CHANGE_CODE = "jarvis_workers.steps.assistant.change_code"
TEAM_JOB = "jarvis_workers.steps.assistant.team_job"
CODING = (Stage("code", module=CHANGE_CODE, queue=AGENT_QUEUE, state_if_failed="incomplete"),)
TEAMWORK = (Stage("team", module=TEAM_JOB, queue=AGENT_QUEUE, state_if_failed="incomplete"),)

# The module that shows an answer on the page of its run.
ANSWER = "jarvis_workers.service.conversations"

register_kind(RunKind(CODE, CODING, output="jarvis_cli.code_output", result=ANSWER))
register_kind(RunKind("team", TEAMWORK, output="jarvis_cli.agent_output", result=ANSWER))
