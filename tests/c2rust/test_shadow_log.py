"""Events of shadow: what programs log is bounded and validated."""

from jarvis_workers.c2rust.shadow_log import (
    MOST_DIFFERENCES,
    Compared,
    MemoryDifference,
    MemoryRegion,
    Unshadowed,
    confirmed_in,
    read_shadow_log,
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


def varied(call: int, region: str, c: str, rust: str, variation: str = "argument 0 = 0") -> bytes:
    return line("difference", "p", 1, "f", call, region, c, rust, "1", variation)


def test_differences_in_varied_calls_count_if_they_recur_where_c_is_defined():
    as_called = line("difference", "p", 1, "f", 1, "result r0", "00", "01", "1")
    ended, global_, pointer = varied(1, "ended", "00", "0b"), varied(1, "global x+0", "05", "07"), "5010aa55557f0000"
    # Other bytes of C, a place that moves with the build, and a pointer, whose value is another in each process.
    log = ended + varied(2, "ended", "00", "0b") + varied(2, "result r0", "40", "00") + global_ + as_called
    log += varied(3, "result p0", pointer, "00" * 8)
    checked = varied(2, "ended", "00", "0b") + varied(2, "result r0", "41", "00") + varied(1, "global x+4", "05", "07")
    checked += varied(3, "result p0", "5010bb55557f0000", "00" * 8)
    checked += varied(1, "ended", "00", "0b", "argument 0 = 1") + line("difference", "p", 1, "f", "x", "ended")

    expected = varied(2, "ended", "00", "0b") + global_ + as_called + varied(3, "result p0", pointer, "00" * 8)
    assert confirmed_in(checked, log.decode(), "f").encode() == expected
    assert confirmed_in(b"", log.decode(), "f").encode() == as_called
    assert [one.variation for one in read_shadow_log(ended, {"f"}).differences] == ["argument 0 = 0"]
    assert read_shadow_log(ended[:-1] + b"\x07\n", {"f"}).differences == ()


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
