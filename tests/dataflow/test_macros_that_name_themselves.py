"""A macro that expands to a call of its own name, as curl defines its options, ends no analysis."""

import pytest

from jarvis_workers.dataflow import FileAnalysis
from tests.sec.following import look_nowhere, model_of, stored

CODE = b"""#include <stdlib.h>
#define set(handle, option) %s
int f(void *handle, int option)
{
    char *p = malloc(2);
    int result = set(handle, option);
    free(p);
    return result ? *p : 0;
}
"""


@pytest.mark.parametrize("text", [b"set(handle, option)", b"(set(handle, option) == 0)", b"other(set(handle, option))"])
def test_a_macro_that_names_itself_is_followed_to_the_end(text: bytes) -> None:
    model = model_of(CODE % text)
    assert model is not None

    result = FileAnalysis(stored(model), look_nowhere, test=False).run()

    assert not result.gaps
    assert "flow_use_after_free" in [hit.pattern for hit in result.hits if hit.line == 8]
