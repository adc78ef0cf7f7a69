"""Which requests for other signatures count."""

from itertools import permutations

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.signature_answer import PRESENT, SPENT, SignatureRequest, choose_requests, most_changes
from jarvis_workers.c2rust.signatures import ParameterChoice, ParameterMapping

SLICE, COUNT = ParameterMapping("p", "slice", length=1), ParameterMapping("n", "value")
CHOICES = (ParameterChoice(SLICE, ("raw", "ref", "slice")), ParameterChoice(COUNT, ("value",), counts=True))
RAW = (PassedParameter("p", "raw"),)
SLOTS = "abcdef"


def request(
    slot: str, parameters: tuple[PassedParameter, ...] = RAW, *, translated: bool = True, left: bool = True
) -> SignatureRequest:
    return SignatureRequest(slot, parameters, translated, left)


def choose(requests: list[SignatureRequest], most: int = 9) -> tuple[dict[str, str], dict[str, str]]:
    """Return how the pointers of granted requests are passed, and the reasons against the others."""
    chosen = choose_requests(requests, dict.fromkeys(SLOTS, CHOICES), dict.fromkeys(SLOTS, (SLICE, COUNT)), most)
    return {slot: one[0].form for slot, one in chosen.mappings.items()}, chosen.refused


def test_a_request_must_be_possible_and_new() -> None:
    requests = [
        request("a"),
        request("b", (PassedParameter("p", "cstr"),)),
        request("c", (PassedParameter("q", "raw"),)),
        request("d", (PassedParameter("p", "slice", "n"),)),
        request("e", left=False),
        request("f", (PassedParameter("p", "slice", "m"),)),
    ]
    assert choose(requests) == (
        {"a": "raw"},
        {
            "b": "p cannot be cstr; possible: raw, ref, slice",
            "c": "it has no parameter q",
            "d": PRESENT,
            "e": SPENT,
            "f": "p: no integer parameter m has its length",
        },
    )


def test_few_signatures_change_and_the_order_of_answers_does_not_matter() -> None:
    """Functions without a body come first, then others by name."""
    requests = [request("a"), request("b"), request("c", translated=False), request("d", (PassedParameter("p", "?"),))]
    expected = choose(requests, most=2)
    assert expected[0] == {"c": "raw", "a": "raw"}
    assert expected[1]["b"] == "a run changes at most 2 of them"
    for order in permutations(requests):
        assert choose(list(order), most=2) == expected


def test_a_twentieth_of_the_functions_may_change_and_at_least_one() -> None:
    assert [most_changes(count) for count in (1, 39, 40, 200)] == [1, 1, 2, 10]
