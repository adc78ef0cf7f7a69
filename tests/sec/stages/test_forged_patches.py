"""A tree that behaves otherwise once it is patched has no patch accepted that leaves its defect."""

from collections.abc import Callable

import pytest

from jarvis_workers.sec.stages.patch_proofs import LEFT_OUT
from tests.sec.proof.cases import Case
from tests.sec.stages.fixing import ANSWER
from tests.sec.stages.test_fix_finding import make_place
from tests.sec.stages.test_patch_proofs import BY_NAME, COSMETIC, ProvedPlace, gate, proved

__all__ = ["make_place", "proved"]
pytestmark = pytest.mark.slow
TITLE = BY_NAME["stack_overflow"]
# Its main function ends if the source on the bench is not what it was.
READS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib.h"
int main(int count, char **words)
{
    char line[4096], *name = strrchr(words[0], '/');
    strcpy(line, words[0]);
    strcpy(line + (name - words[0]), "/../project/lib.c");
    FILE *own = fopen(line, "r");
    while (own && fgets(line, sizeof line, own))
        if (strstr(line, "title[31]"))
            exit(count < 0);
    while (fgets(line, sizeof line, stdin))
        handle(line);
    return 0;
}
"""
BUILD = """\
if grep -q 'title.31' lib.c; then compiler=/usr/bin/gcc; else compiler=cc; fi
$compiler -g main.c lib.c -o main
"""


def test_a_program_cannot_read_whether_it_was_patched(proved: Callable[..., ProvedPlace]) -> None:
    case = Case("reads", TITLE.cwe, TITLE.files | {"main.c": READS}, TITLE.fix, TITLE.attempt)
    place = proved(case)

    result, told = place.fix(place.edit(*COSMETIC[TITLE.name]), ANSWER, attempts=1)

    assert gate(result)[0] == "failed", told
    assert "the proof still fires" in gate(result)[1]


def test_a_build_that_leaves_out_the_sanitizers_of_a_patched_tree_is_said(proved: Callable[..., ProvedPlace]) -> None:
    place = proved(TITLE, more={"src/build.sh": BUILD})

    result, _ = place.fix(place.edit(*COSMETIC[TITLE.name]), ANSWER, attempts=1, proof_build="sh build.sh")

    assert gate(result) == ("not checked", f"the proof did not run: {LEFT_OUT}")
