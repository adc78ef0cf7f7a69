"""Whether two candidates are the same defect: they are on the same line, and their weaknesses (CWE) are of one class.

A line may have several defects, such as a copy that reads behind one buffer and writes behind another: candidates on
the same line with weaknesses of different classes are different defects.  The classes overlap, since some weaknesses
are general: an index without a check (CWE-129) may lead to a read and to a write.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from jarvis_workers.sec.finding import Candidate

OUT_OF_BOUNDS = frozenset((118, 119, 129, 130, 131, 135, 170, 193, 466, 468, 785, 786, 788, 805, 806, 823))
RESOURCES = frozenset((400, 404, 770))
CLASSES = (
    OUT_OF_BOUNDS | {125, 126, 127},
    OUT_OF_BOUNDS | {120, 121, 122, 123, 124, 676, 787},
    frozenset((415, 825, 1341)),
    frozenset((416, 562, 672, 825)),
    frozenset((590, 761, 762, 763)),
    frozenset((252, 253, 476, 690)),
    frozenset((128, 190, 191, 680, 682, 1335)),
    frozenset((192, 194, 195, 196, 197, 681, 682, 839)),
    frozenset((456, 457, 665, 824, 908, 909)),
    frozenset((704, 843)),
    RESOURCES | {401, 771, 772, 775},
    RESOURCES | {789},
    RESOURCES | {674},
    RESOURCES | {834, 835},
    frozenset((77, 78, 88)),
    frozenset((22, 23, 24, 36, 73)),
    frozenset((59, 61, 62, 363, 367)),
    frozenset((362, 364, 366, 367, 479, 662)),
    frozenset((276, 377, 378, 379, 732)),
    frozenset((326, 327, 328, 330, 338)),
)


def is_same_weakness(one: int, other: int) -> bool:
    """Return whether two numbers of the CWE list name the same kind of error; 0 is unknown, and the same as nothing."""
    return one == other > 0 or any(one in alike and other in alike for alike in CLASSES)


def is_same_defect(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates are the same defect; if one has no CWE, they are if they have the same words."""
    if (one.file, one.line) != (other.file, other.line):
        return False
    if one.cwe and other.cwe:
        return is_same_weakness(one.cwe, other.cwe)
    return one.description == other.description


def merged_reports(
    reports: Iterable[tuple[int, Candidate]], standing: Iterable[tuple[int, Candidate]]
) -> Mapping[int, int]:
    """Return which reports of models repeat a defect: the key of each, and that of the candidate which stays.

    Those that stay are `standing`, and the first report of every other defect.
    """
    by_place = defaultdict[tuple[str, int], list[tuple[int, Candidate]]](list)
    for key, candidate in standing:
        by_place[candidate.file, candidate.line].append((key, candidate))
    merged = dict[int, int]()
    for key, report in reports:
        there = by_place[report.file, report.line]
        into = next((other for other, candidate in there if is_same_defect(report, candidate)), None)
        if into is None:
            there.append((key, report))
        else:
            merged[key] = into
    return merged
