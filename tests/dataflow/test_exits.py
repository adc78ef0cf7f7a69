"""How many paths continue from a point."""

import pytest

from jarvis_workers.dataflow.execution.exits import COSTLY_FROM, PATHS, PATHS_WHEN_NARROW, SPENT_FROM, few
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.values import number, point_to
from tests.sec.following import look_nowhere, model_of

FUNCTION = LoweredFunction("f", 1, 1, (), (), (), False)


@pytest.mark.parametrize(
    ("evaluated", "most"), [(0, PATHS), (COSTLY_FROM, PATHS_WHEN_NARROW), (SPENT_FROM, 1), (10 * SPENT_FROM, 1)]
)
def test_fewer_paths_continue_where_a_function_has_cost_much(evaluated: int, most: int) -> None:
    model = model_of(b"int f(void) { return 1; }\n")
    assert model is not None
    machine = AnalysisContext({**model, "functions": []}, look_nowhere)
    machine.evaluated = evaluated
    paths = [PathState(machine, Frame(FUNCTION, 1)) for _ in range(PATHS + 3)]
    for place, path in enumerate(paths):
        path.cells["1:p", ""] = point_to(f"h:{place}")
        path.cells["1:n", ""] = number(place)

    assert len(few(paths)) == most
    assert machine.execution.pruned
