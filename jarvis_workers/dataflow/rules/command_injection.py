"""flow_command_injection: a command or program is run with text from outside."""

from jarvis_workers.dataflow.library.commands import EXEC, SHELL
from jarvis_workers.dataflow.library.inputs import CHOSEN
from jarvis_workers.dataflow.library.model import LibraryCall, on_call, taint_of
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.path import FlowRule
from jarvis_workers.dataflow.state.values import IS_NULL

RULE = FlowRule("flow_command_injection")
COMMAND, PROGRAM = 0.88, 0.85
# To run the program that a variable such as EDITOR names is what the variable is for.
CHOSEN_BY_USER = 0.6
# How many of the first arguments become part of a command.
WINDOWS_ARGUMENTS = 4


@on_call("popen", "_popen", "_wpopen", *listed(SHELL))
def _runs_command(call: LibraryCall) -> None:
    call.prove("harmless_command", holds=call.is_own_text(0))
    for value in call.values[: 1 if "system" in call.name or "popen" in call.name else WINDOWS_ARGUMENTS]:
        step = taint_of(call.path, value)
        if step is not None:
            text = "runs a command that contains untrusted input"
            call.report(RULE, text, since=step, sure=CHOSEN_BY_USER if step.note == CHOSEN else COMMAND)
            return


@on_call(*listed(EXEC))
def _runs_program(call: LibraryCall) -> None:
    """Check the arguments of a program, given one by one or as an array."""
    arguments = list(call.values)
    name = call.name
    if "v" in name.rpartition("exec")[2] + name.rpartition("spawn")[2]:
        cells = call.path.cells.items()
        for value in call.values:
            arguments += [current for cell, current in cells if value.target and cell[0] == value.target]
    call.prove("harmless_command", holds=all(_is_plain(call, place) for place in range(len(call.values))))
    steps = (taint_of(call.path, value) for value in arguments)
    step = next((one for one in steps if one is not None), None)
    if step is not None:
        sure = CHOSEN_BY_USER if step.note == CHOSEN else PROGRAM
        call.report(RULE, "runs a program with untrusted arguments", since=step, sure=sure)


def _is_plain(call: LibraryCall, place: int) -> bool:
    """Return whether an argument is text of the program itself, or the terminating NULL."""
    return call.is_own_text(place) or call.value(place).null == IS_NULL
