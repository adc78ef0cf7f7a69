"""The gate `rule`: findings are compared by function and text, whatever moves, and by their root causes."""

import pytest

from jarvis_workers.sec.fix.rule_sites import RuleSite, RuleSites, check_rule

MALLOC, PARTED = "char *p = malloc(n);", "p = malloc(n);"
FIXED = RuleSite("a.c", "alloc_size_overflow", 4, MALLOC, "copy")
ALLOCATION = RuleSite("a.c", "malloc_no_null_check", 4, MALLOC, "copy")
USE = RuleSite("a.c", "flow_unchecked_null", 6, "p[0] = 1;", "copy", MALLOC, 4)
END = USE._replace(line=9, evidence="p[n] = 0;")
OTHER = USE._replace(line=13, function="other", cause_line=12)


def sites(*found: RuleSite) -> RuleSites:
    return RuleSites(found, found)


def moved(site: RuleSite, by: int = 4) -> RuleSite:
    return site._replace(line=site.line + by, cause_line=site.cause_line and site.cause_line + by)


def parted(site: RuleSite) -> RuleSite:
    site = moved(site)
    return site._replace(evidence=site.evidence.replace(MALLOC, PARTED), cause=site.cause.replace(MALLOC, PARTED))


BEFORE = sites(FIXED, ALLOCATION, USE, OTHER)
# What a patch of FIXED leaves, and what the gate says of it, "" if it passes.
AFTER = {
    "moved": (sites(moved(ALLOCATION), moved(USE), moved(OTHER)), ""),
    "declaration and assignment parted": (sites(parted(ALLOCATION), parted(USE), moved(OTHER)), ""),
    "another use of the same pointer": (sites(parted(ALLOCATION), parted(USE), parted(END), moved(OTHER)), ""),
    "another use of another pointer": (
        sites(ALLOCATION, USE, END._replace(cause="q = calloc(9, 9);", cause_line=3), OTHER),
        "new findings: flow_unchecked_null on a.c:9: p[n] = 0;",
    ),
    "another use in another function": (
        sites(ALLOCATION, USE, OTHER, END._replace(function="third", line=33, cause_line=30)),
        "new findings: flow_unchecked_null on a.c:33",
    ),
    "the same code once more": (
        sites(ALLOCATION, ALLOCATION._replace(line=5), USE, OTHER),
        "new findings: malloc_no_null_check on a.c:",
    ),
    "the same code in a function that was fine": (
        sites(ALLOCATION, ALLOCATION._replace(line=15, function="other"), USE, OTHER),
        "new findings: malloc_no_null_check on a.c:15",
    ),
    "one goes, one comes": (
        sites(ALLOCATION, USE, RuleSite("a.c", "unsafe_api", 7, "gets(p);", "copy")),
        "new findings: unsafe_api on a.c:7: gets(p);",
    ),
    "edited, and still there": (
        sites(ALLOCATION, USE, OTHER, FIXED._replace(evidence="char *p = malloc((n));")),
        "the rule still fires: alloc_size_overflow on a.c:4: char *p = malloc((n));",
    ),
    "in a function of its own": (
        sites(ALLOCATION, USE, OTHER, FIXED._replace(line=40, function="helper")),
        "the rule still fires: alloc_size_overflow on a.c:40",
    ),
}


@pytest.mark.parametrize("name", AFTER)
def test_findings_are_compared_by_function_text_and_root_cause(name: str) -> None:
    after, words = AFTER[name]

    result = check_rule([FIXED], BEFORE, after)

    assert (result.state, words in result.reason) == ("failed" if words else "passed", True), result.reason


def test_a_use_of_the_pointer_that_the_patch_is_for_is_not_a_moved_one() -> None:
    before, again = sites(USE, OTHER), USE._replace(evidence="*(p + 0) = 1;")

    assert check_rule([USE], before, sites(again, OTHER)).reason.startswith("the rule still fires: flow_unchecked_null")
    assert check_rule([USE], before, sites(OTHER)).state == "passed"


def test_a_finding_of_a_rule_in_the_place_of_another_one_of_its_function_is_new() -> None:
    line = RuleSite("a.c", "unsafe_api", 7, "strcat(p, s);", "copy")
    new = line._replace(evidence='sprintf(name, "%s/%s", home, text);')

    result = check_rule([FIXED], sites(FIXED, line), sites(new))

    assert result.reason == 'the patch brings new findings: unsafe_api on a.c:7: sprintf(name, "%s/%s", home, text);'


def test_of_what_a_model_has_found_new_findings_are_refused_and_silence_says_nothing() -> None:
    found, new = FIXED._replace(pattern="discovered"), RuleSite("a.c", "unsafe_api", 7, "gets(p);", "copy")

    assert check_rule([found], BEFORE, sites(*BEFORE.reported, new)).reason.startswith("the patch brings new findings")
    assert check_rule([found], BEFORE, BEFORE).state == "not checked"
    assert "which a model has found" in check_rule([found], BEFORE, BEFORE).reason


def test_many_edited_findings_of_one_function_are_compared_in_bounded_time() -> None:
    lines = [RuleSite("a.c", "unsafe_api", line, f"strcpy(d{line}, s{line});", "f") for line in range(500)]
    edited = [one._replace(evidence=one.evidence.replace("s", "(s)", 1)) for one in lines]

    assert check_rule([FIXED], sites(FIXED, *lines), sites(*edited)).state == "failed"
