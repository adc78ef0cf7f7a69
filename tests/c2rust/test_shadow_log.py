"""Events of shadow: what programs log is bounded and validated."""

from jarvis_workers.c2rust.shadow_log import (
    MOST_DIFFERENCES,
    Compared,
    MemoryDifference,
    MemoryRegion,
    Unshadowed,
    read_shadow_log,
    read_variations,
    without_undefined,
)


def line(*fields: object) -> bytes:
    return "\t".join(map(str, fields)).encode() + b"\n"


def test_counts_of_a_process_grow_and_those_of_processes_add_up():
    log = (
        line("start", "prog", 1, 2, 1) + line("compared", "prog", 1, "f", 1, 0) + line("compared", "prog", 1, "f", 4, 1)
    )
    log += line("compared", "prog", 2, "f", 3, 0) + line("compared", "prog", 2, "g", 3, 0)

    assert read_shadow_log(log, {"f"}).compared == (Compared("f", 7, 1),)


def test_a_difference_has_a_path():
    log = line("difference", "prog", 1, "f", 3, "heap argument 1+16>0>8", "0100", "02ff", "7f00,a,0,0,0,0")

    expected = MemoryDifference(
        "f", 3, MemoryRegion("heap", "argument 1", (16, 0, 8)), b"\1\0", b"\2\xff", (0x7F00, 10, 0, 0, 0, 0)
    )
    assert read_shadow_log(log, {"f"}).differences == (expected,)


def test_regions_without_a_path():
    log = line("difference", "prog", 1, "f", 1, "result v0", "00", "01", "-")
    log += line("difference", "prog", 1, "f", 1, "blocks", "00", "01", "1")

    assert [one.region for one in read_shadow_log(log, {"f"}).differences] == [
        MemoryRegion("result", "v0", ()),
        MemoryRegion("blocks", "", ()),
    ]


def test_differences_in_varied_calls_count_where_c_is_defined():
    varied = [line("difference", "p", 1, "f", number, "ended", "00", "0b", "1", "argument 0 = 0") for number in (1, 2)]
    as_called = line("difference", "p", 1, "f", 1, "result r0", "00", "01", "1")
    checked = line("varied", "p", 7, "f", 2, "argument 0 = 0") + line("varied", "p", 7, "g", 1, "argument 0 = 0")
    checked += line("varied", "p", 7, "f", "x", "argument 0 = 0") + line("varied", "p", 7, "f", 1)

    log = (b"".join(varied) + as_called).decode()

    assert read_variations(checked, "f") == {(2, "argument 0 = 0")}
    assert without_undefined(log, "f", read_variations(checked, "f")).encode() == varied[1] + as_called
    assert [one.variation for one in read_shadow_log(varied[1], {"f"}).differences] == ["argument 0 = 0"]
    assert read_shadow_log(varied[1][:-1] + b"\x07\n", {"f"}).differences == ()


def test_lines_of_another_form_are_skipped():
    good = ("difference", "prog", 1, "f", 1, "global x+0", "00", "01", "0")
    for at, wrong in [(3, "g"), (4, "-1"), (5, "global x"), (5, "global x+0>y"), (6, "0"), (6, "00" * 9), (7, "zz")]:
        fields = [*good[:at], wrong, *good[at + 1 :]]
        assert read_shadow_log(line(*fields), {"f"}).differences == (), fields
    for log in (b"", b"\n\n", b"compared\n", line("compared", "p", 1, "f", "x", 0), line("compared", "p", 1, "f", 1)):
        assert read_shadow_log(log, {"f"}).compared == ()


def test_reasons_and_differences_are_bounded():
    log = line("unshadowed", "prog", 1, "f", "x" * 3000) + line("unshadowed", "prog", 2, "f", "again")
    log += line("difference", "prog", 1, "f", 1, "global x+0", "00", "01", "0") * (MOST_DIFFERENCES + 5)

    read = read_shadow_log(log + b"\xff\t\xff\t\xff\tf\t\xff\n", {"f"})

    assert read.unshadowed == (Unshadowed("f", "x" * 200),)
    assert len(read.differences) == MOST_DIFFERENCES
