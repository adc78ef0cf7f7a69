"""Advice on categories of findings, beyond the fix of each one."""

ALWAYS = (
    "Start with the highest-risk files and the high-severity findings; confirm each before changing code.",
    "Build with warnings as errors, and run the tests under ASan and UBSan.",
    "Scan every change, and use `--fail-on high` in CI to block regressions.",
)

ADVICE = {
    "unsafe_api": "Ban unbounded copy functions, and provide one bounded replacement for the code base.",
    "buffer_overflow": "Pass the buffer size together with the buffer, and check size arithmetic for overflow.",
    "memory_mgmt": "Give every allocation one owner, check it, free it in one place and set the pointer to NULL there.",
    "error_handling": "Check every return value, and release previously acquired resources on error paths.",
    "unsafe_usage": "Keep `unsafe` small, with a SAFETY comment that justifies it; let CI reject control characters.",
    "concurrency": "Define one lock order, wait for conditions in a loop, and run the tests under TSan.",
    "thread_safety": "Replace functions with hidden static state by their `_r` variants.",
    "input_validation": "Validate the length, range and format of untrusted input where it enters.",
    "crypto": "Load keys and secrets from outside the source, and use the system's random number generator.",
    "resource_leak": "Close files and descriptors on every path; a single cleanup label is easy to check.",
    "network_api": "Use address functions that support IPv6 and report errors (`inet_pton`, `getaddrinfo`).",
    "insecure_permissions": "Create files with minimal permissions, with `open`, O_EXCL and a mode, or with `mkstemp`.",
}
