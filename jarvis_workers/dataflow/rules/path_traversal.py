"""flow_path_traversal: a file is opened by a path that contains text from outside."""

from jarvis_workers.dataflow.library.inputs import CHOSEN, ENVIRONMENT
from jarvis_workers.dataflow.library.model import LibraryCall, on_call, taint_of
from jarvis_workers.dataflow.state.path import FlowRule

RULE = FlowRule("flow_path_traversal")
# The user may choose a file on the command line or in the environment.
PATH, NAMED_BY_USER = 0.6, 0.4


@on_call("fopen", "_wfopen", "wfopen", "opendir", "freopen", "open", "_open", "creat", "_wopen")
def _opens(call: LibraryCall) -> None:
    step = taint_of(call.path, call.value(0))
    if step is not None:
        is_of_user = "command line" in step.note or step.note in (CHOSEN, ENVIRONMENT)
        text = "opens a path that contains untrusted input"
        call.report(RULE, text, since=step, sure=NAMED_BY_USER if is_of_user else PATH)
