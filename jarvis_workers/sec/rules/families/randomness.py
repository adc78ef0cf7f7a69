"""rand_insecure: predictable random numbers where nearby names indicate a secret."""

import re

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

NAMED, AROUND, SEEDED = 0.25, 0.1, -0.15
STATEMENT, BEHIND, LINES_MAX = 256, 800, 12
GENERATORS = (
    "rand",
    "random",
    "drand48",
    "lrand48",
    "mrand48",
    "nrand48",
    "jrand48",
    "erand48",
    "rand_r",
    "random_r",
    "qrand",
    "g_random_int",
    "prandom_u32",
    "prandom_u32_max",
    "prandom_bytes",
    "pseudo_random",
)
SEEDS = ("srand", "srandom", "srand48", "qsrand")
ENGINES = ("mt19937", "mt19937_64", "minstd_rand", "minstd_rand0", "default_random_engine", "knuth_b")
# Words of a name, such as `session_key`, `genToken` or `AUTH_NONCE`; a plain `key` is usually a table key.
SECRET = lazy(
    rb"(?:\b|_|(?<=[a-z]))(?:[Tt]oken|TOKEN|[Nn]once|NONCE|[Ss]alt|SALT|[Pp]assw(?:or)?d|PASSW(?:OR)?D|[Pp]assphrase|"
    rb"[Ss]ecret|SECRET|[Ss]ession(?:_?[Ii][Dd]|_?[Kk]ey)|SESSION_ID|[Cc]hallenge|CHALLENGE|[Cc]ookie|COOKIE|otp|OTP|csrf|"
    rb"CSRF|(?:[Aa]uth|AUTH|[Ss]ession|[Mm]aster|[Pp]rivate|[Ss]hared|[Aa]es|AES|[Hh]mac|HMAC|[Cc]rypt(?:o|ion)?|[Cc]ipher|"
    rb"[Ww]ep|WEP|[Ss]igning|[Aa]pi|API)_?(?:[Kk]ey|KEY)|[Ii]nit_?[Vv]ector|IV(?=\b|_)|iv(?=\s*(?:\[|=))|[Cc]redential)"
    rb"(?!_?(?:[Tt]ime|[Aa]ge|[Cc]ount|[Ll]en|[Ss]ize|[Dd]elay|[Tt]ype|[Ii]d?x|[Nn]um|[Pp]os|bucket|s_count|_ms))"
)
KEY_BYTES = lazy(rb"(?:\b|_)(?:[Kk]ey|KEY)(?:buf|_buf|_bytes|_data)?\s*\[[^][]*\]\s*[\^+|]?=[^=]")
FETCHING = lazy(rb"\b(?:test|bench|shuffle|jitter|backoff|sample|fuzz|demo|stress|example|keyspace)", re.IGNORECASE)
CLOCKS = lazy(
    rb"\b(?:time|clock|getpid|gettimeofday|GetTickCount|microtime|ustime|mstime|currentTime\w*|time_since_epoch)\s*\("
)
EDGES = (b";", b"{", b"}")


def check_generator(site: Site) -> float | None:
    """Report a generator only if a nearby name indicates a secret; games, tests and back-off may be predictable."""
    if site.name.decode("latin-1") in SEEDS:
        return _seeded(site)
    statement = _statement(site)
    if SECRET.search(statement):
        return NAMED
    if KEY_BYTES.search(statement) and not (site.function and FETCHING.search(site.function.name)):
        return AROUND
    function = site.function
    if function and SECRET.search(function.name) and not FETCHING.search(function.name):
        return AROUND
    return None


def _seeded(site: Site) -> float | None:
    """Check a seed: a clock or a process ID has few possible values."""
    if not CLOCKS.search(site.masked(0)):
        return None
    function = site.function
    if function and (SECRET.search(function.name) or SECRET.search(_body_names(site))):
        return AROUND
    return SEEDED


def _body_names(site: Site) -> bytes:
    """Return the lines of the function after the site that contain `rand`."""
    after = site.after(BEHIND)
    end = after.find(b"\n}")
    lines = after[: end if end >= 0 else len(after)].split(b"\n", LINES_MAX)
    return b"\n".join(line for line in lines[:LINES_MAX] if b"rand" in line)


def _statement(site: Site) -> bytes:
    """Return the assignment target and the enclosing call, without the generator's own name."""
    text = site.source.text
    floor = max(0, site.start - STATEMENT)
    start = max(text.rfind(edge, floor, site.start) for edge in EDGES) + 1 or floor
    end = text.find(b";", site.at, site.at + STATEMENT)
    return text[start : site.start] + text[site.at : end if end >= 0 else site.at + STATEMENT]


RULES: tuple[Rule, ...] = (rule("rand_insecure", check_generator, calls=(*GENERATORS, *SEEDS), words=ENGINES),)
