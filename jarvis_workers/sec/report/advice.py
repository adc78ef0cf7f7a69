"""What to do about a category of findings beyond mending each one."""

ALWAYS = (
    "Begin with the files most at risk and the findings of high severity; confirm each before changing code.",
    "Build with warnings as errors, and run the tests under the address and undefined-behaviour sanitizers.",
    "Scan every change, and let `--fail-on high` stop the ones that make it worse.",
)

ADVICE = {
    "unsafe_api": "Ban the calls that copy without a bound, and give the code base one bounded replacement for them.",
    "buffer_overflow": "Pass the size of a buffer with the buffer, and check sums and products of sizes for overflow.",
    "memory_mgmt": "Give every allocation one owner, check it, free it in one place and clear the pointer there.",
    "error_handling": "Check what every call returns, and release on the way out of an error what was taken before it.",
    "unsafe_usage": "Keep `unsafe` small, with a SAFETY comment that says why; let CI refuse control characters.",
    "concurrency": "Fix one order for taking locks, wait in a loop, and run the tests under the thread sanitizer.",
    "thread_safety": "Replace functions that keep hidden state by their `_r` variants.",
    "input_validation": "Check length, range and form of what comes from outside where it enters.",
    "crypto": "Take keys and secrets from outside the source, and random numbers from the system's generator.",
    "resource_leak": "Close on every path what was opened; one exit with a clean-up label is easy to check.",
    "network_api": "Use the address functions that know IPv6 and report errors (`inet_pton`, `getaddrinfo`).",
    "insecure_permissions": "Create files with the least permission, by `open` with O_EXCL and a mode, or `mkstemp`.",
}
