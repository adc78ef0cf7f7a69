"""The only list of known errors of the flow engine, each with its reason.

A listed test must fail: a corrected error must be removed from the list.  Names are those of the functions in
tests/data/flow; `snippet:` marks the excerpts of a rule, `contract:` its specification, `growing:` and `extreme:`
execution times.
"""

import pytest

__all__ = ["FAULTS", "expected"]

# What is not followed at all, though it would be found if it were.
UNSEEN = "the function is not analysed: its own text has nothing that selects it"
CALLER_UNSEEN = "the caller is not analysed: its own text has nothing that selects it"
NO_VALUE = "a call is not followed when nothing is known about its arguments"
FAULTS: dict[str, str] = {
    "flow_bad_free.c:release_page": UNSEEN,
    "flow_buffer_overread.c:sixth_prime": UNSEEN,
    "flow_command_injection.c:run": "argv does not count as tainted",
    "flow_cplusplus.cpp:idle_reach": "a static method that returns NULL is not followed",
    "flow_embedded.c:frame_last": "the size of an array in a struct is unknown",
    "flow_embedded.c:samples_clear": UNSEEN,
    "flow_divide_by_zero.c:ratio": "a constant argument alone does not cause a call to be followed",
    "flow_double_free.c:crate_wipe": CALLER_UNSEEN,
    "flow_format_string.c:main": "argv does not count as tainted",
    "flow_handle_leak.c:log_once": "the leak is reported where the callee opens the file, not where it leaks",
    "flow_memory_leak.c:result_dropped": "a leak is reported in the allocating callee, not in its caller",
    "flow_mismatched_free.cpp:~Shelf": CALLER_UNSEEN,
    "flow_null_dereference.c:switch_lamp": "the path through a switch on which a pointer stays NULL is dropped",
    "flow_null_dereference.c:lamp_toggle_later": "a call through a field does not count as a use of the pointer",
    "flow_uninitialized.c:last_even": "a variable that a loop sets at times counts as set behind it",
    "flow_use_after_free.c:wagon_scrap_and_tell": NO_VALUE,
    "flow_use_after_free.c:wagon_loop_release": "an element of an unknown array is a new object in each loop iteration",
    "across/chain_of_three/top.c:released_twice": NO_VALUE,
    "across/chain_of_three/top.c:made_below": "a wrapper that only returns the result of an allocator is not followed",
    "across/closes_elsewhere/main.c:closed_twice": "a second fclose is reported as a use, not as a double close",
    "across/closes_elsewhere/main.c:not_closed_there": "a callee that does not close a stream seems to own it",
    "across/frees_elsewhere/yard.c:weigh_dropped": NO_VALUE,
    "across/makes_elsewhere/user.c:value_lost": UNSEEN,
    "across/makes_elsewhere/user.c:log_left_open": UNSEEN,
    "across/tainted_elsewhere/sink.c:divided": UNSEEN,
    "snippet:flow_uninitialized:bad": "a function whose only defect is a variable set on one path is not analysed",
    "snippet:flow_divide_by_zero:good": "an early return on 0 does not clear a tainted divisor",
}


def expected(name: str, case: object) -> object:
    """Return a case as a test parameter that must fail if it is in the list."""
    reason = FAULTS.get(name)
    return pytest.param(case, id=name, marks=[pytest.mark.xfail(strict=True, reason=reason)] if reason else [])
