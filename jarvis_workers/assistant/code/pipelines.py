"""The kinds of runs of the assistant."""

from jarvis_workers.pipeline.stages import RunKind, Stage, register_kind
from jarvis_workers.store.values import AGENT_QUEUE

CODE = "code"
CHANGE_CODE = "jarvis_workers.assistant.code.change_code"
TEAM_JOB = "jarvis_workers.assistant.code.team_job"
CODING = (Stage("code", module=CHANGE_CODE, queue=AGENT_QUEUE, state_if_failed="incomplete"),)
TEAMWORK = (Stage("team", module=TEAM_JOB, queue=AGENT_QUEUE, state_if_failed="incomplete"),)

# The module that shows an answer on the page of its run.
ANSWER = "jarvis_workers.runs.conversations"

register_kind(RunKind(CODE, CODING, output="jarvis_workers.assistant.commands.code_output", result=ANSWER))
register_kind(RunKind("team", TEAMWORK, output="jarvis_workers.assistant.commands.agent_run", result=ANSWER))
