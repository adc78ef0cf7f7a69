"""What the flow engine is known to get wrong, each with its reason: the one list of it.

A test that is in the list has to fail: what is mended must leave it.  Names are those of the functions in
tests/data/flow; `others:` is what a rule finds in an example of another, `snippet:` what a rule shows its reader,
`contract:` what it promises, `growing:` and `extreme:` are about time.
"""

import pytest

__all__ = ["FAULTS", "expected"]

# What is not followed at all, though it would be found if it were.
PLAIN_ADDRESS = "the address of a variable that is no array is not known when returned"
UNSEEN = "the function is not followed: nothing in its own text asks for it"
CALLER_UNSEEN = "the caller is not followed: nothing in its own text asks for it"
NO_VALUE = "a call is not followed when nothing is known of its arguments"
TAINT_STAYS = "text that is replaced or made of numbers is still taken for text from outside"
SAME_BUT_RESULT = "paths through a callee that differ in their result alone are taken for one"
FAULTS: dict[str, str] = {
    "flow_bad_free.c:release_literal": UNSEEN,
    "flow_bad_free.c:put_back": CALLER_UNSEEN,
    "flow_bad_free.c:release_page": UNSEEN,
    "flow_buffer_overflow.c:fill": CALLER_UNSEEN,
    "flow_buffer_overread.c:sixth_prime": UNSEEN,
    "flow_buffer_overread.c:pick": CALLER_UNSEEN,
    "flow_buffer_underread.c:back": CALLER_UNSEEN,
    "flow_command_injection.c:run": "argv is not taken for data from outside",
    "flow_command_injection.c:only_a_number": TAINT_STAYS,
    "flow_cplusplus.cpp:lift_after_delete": "a method of a class is no use of the object that it is called on",
    "flow_cplusplus.cpp:leak_on_throw": "a function that is left by throw loses nothing",
    "flow_cplusplus.cpp:idle_reach": "a static method that returns NULL is not followed",
    "flow_cplusplus.cpp:null_by_reference": "a method of a class is no use of the object that it is called on",
    "flow_cplusplus.cpp:cargo_past_the_end": "an array in a struct has no size of its own",
    "flow_cplusplus.cpp:never_set": UNSEEN,
    "flow_cplusplus.cpp:handed_to_smart_pointer": "a smart pointer takes nothing over from a plain one",
    "flow_cplusplus.cpp:handed_to_vector": "what a container that is a parameter is given counts as lost",
    "flow_embedded.c:frame_last": "an array in a struct has no size of its own",
    "flow_embedded.c:frame_fill": "an array in a struct has no size of its own",
    "flow_embedded.c:samples_clear": UNSEEN,
    "flow_embedded.c:frame_release_macro": "a macro that releases behind an if is not read",
    "flow_embedded.c:frame_by_pointer": "a function that a field points to is not followed",
    "flow_embedded.c:release_by_variable": "a variable that points to free is not free",
    "flow_embedded.c:state_step": UNSEEN,
    "flow_embedded.c:average_of_none": UNSEEN,
    "others:flow_embedded.c:frame_kept_by_pointer": "a macro that returns behind an if is not read",
    "flow_divide_by_zero.c:average": UNSEEN,
    "flow_divide_by_zero.c:zero_on_a_path": UNSEEN,
    "flow_divide_by_zero.c:ratio": "a call is not followed for a constant argument",
    "flow_divide_by_zero.c:said_but_not_left": UNSEEN,
    "flow_divide_by_zero.c:compound": UNSEEN,
    "flow_double_free.c:crate_wipe": CALLER_UNSEEN,
    "flow_format_string.c:main": "argv is not taken for data from outside",
    "flow_handle_leak.c:log_once": "the loss is told where the callee opens, not where it is lost",
    "flow_handle_leak.c:wrapped": "fdopen takes no descriptor over",
    "flow_integer_overflow.c:wide_enough": "a cast to a wider type before the arithmetic is not seen",
    "flow_integer_underflow.c:below_the_least": UNSEEN,
    "flow_integer_underflow.c:down_at_the_end": UNSEEN,
    "flow_integer_underflow.c:only_an_upper_bound": "an upper bound is taken for a test against falling below",
    "flow_memory_leak.c:flush_left": "a brace in the first column ends the function, so that its rest is lost",
    "flow_memory_leak.c:result_dropped": "the loss is told where the callee allocates, and the caller is not followed",
    "flow_mismatched_free.cpp:row_from_callee": CALLER_UNSEEN,
    "flow_mismatched_free.cpp:~Shelf": CALLER_UNSEEN,
    "flow_null_dereference.c:switch_lamp": "the path through a switch on which a pointer stays NULL is lost",
    "flow_null_dereference.c:lamp_and_condition": UNSEEN,
    "flow_null_dereference.c:lamp_toggle_later": "a call through a field of a pointer is no use of the pointer",
    "flow_null_dereference.c:lamp_through_slot": CALLER_UNSEEN,
    "flow_null_dereference.c:lamp_name_length": "a conditional expression loses that one of its results is NULL",
    "flow_path_traversal.c:by_number": TAINT_STAYS,
    "flow_sql_injection.cpp:by_number": TAINT_STAYS,
    "flow_stack_address.c:origin": PLAIN_ADDRESS,
    "flow_stack_address.c:chosen": PLAIN_ADDRESS,
    "flow_stack_address.c:address_of_parameter": PLAIN_ADDRESS,
    "flow_stack_address.c:by_helper": UNSEEN,
    "flow_tainted_length.c:signed_test": "an upper bound on a signed length is taken for a full test",
    "flow_tainted_length.c:packet_body": "a field of a struct that was received is not from outside",
    "flow_tainted_length.c:least_of_two": "a bound by a conditional expression is not seen",
    "flow_unchecked_null.c:weigh_new": CALLER_UNSEEN,
    "flow_unchecked_null.c:tested_in_time": "a test for NULL that is kept in a variable is not seen",
    "flow_uninitialized.c:grade": UNSEEN,
    "flow_uninitialized.c:last_even": UNSEEN,
    "flow_uninitialized.c:jump_over": UNSEEN,
    "flow_uninitialized.c:half_a_vec": "a field of a local struct that was never set is not seen",
    "flow_uninitialized.c:out_parameter_not_set": UNSEEN,
    "flow_use_after_free.c:train_clear": UNSEEN,
    "flow_use_after_free.c:wagon_scrap_and_tell": NO_VALUE,
    "flow_use_after_free.c:cargo_relabel": "two names of one unknown pointer are two objects",
    "flow_use_after_free.c:cargo_grow": "what realloc was given is not released when it succeeds",
    "flow_use_after_free.c:wagon_loop_release": "an element of an unknown array is another in each turn of a loop",
    "across/chain_of_three/top.c:released_twice": NO_VALUE,
    "across/chain_of_three/top.c:made_below": "a helper that only hands on what another makes is not followed",
    "across/closes_elsewhere/main.c:closed_twice": "a second fclose is told as a use, not as a second release",
    "across/closes_elsewhere/main.c:not_closed_there": "a callee that does not close is taken to keep the stream",
    "across/frees_elsewhere/yard.c:weigh_dropped": NO_VALUE,
    "across/makes_elsewhere/user.c:value_unchecked": UNSEEN,
    "across/makes_elsewhere/user.c:value_lost": UNSEEN,
    "across/makes_elsewhere/user.c:price_of": SAME_BUT_RESULT,
    "across/makes_elsewhere/user.c:log_left_open": UNSEEN,
    "across/tainted_elsewhere/sink.c:sized": SAME_BUT_RESULT,
    "across/tainted_elsewhere/sink.c:divided": UNSEEN,
    "across/tainted_elsewhere/sink.c:commanded": UNSEEN,
    "across/tainted_elsewhere/sink.c:commanded_elsewhere": UNSEEN,
    "others:flow_command_injection.c:from_table": "scanf forgets that what it fills is unsigned",
    "contract:spent": "a function that takes too many steps is left where it is, and nothing says so",
    "contract:long": "a function that is too long is not followed, and nothing says so",
    "snippet:flow_uninitialized:bad": "a function whose only fault is a variable set on one path is not followed",
    "snippet:flow_divide_by_zero:good": "a test for 0 that leaves does not clear a divisor from outside",
}


def expected(name: str, case: object) -> object:
    """Return a case as a parameter of a test, which has to fail if the case is in the list."""
    reason = FAULTS.get(name)
    return pytest.param(case, id=name, marks=[pytest.mark.xfail(strict=True, reason=reason)] if reason else [])
