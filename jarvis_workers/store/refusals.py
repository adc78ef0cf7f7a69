"""Tell a refusal of PostgreSQL, which lasts until somebody changes it, from an outage, which passes by itself."""

# SQLSTATE and what to do.
NO_PERMISSION = "42501"
ADVICE = {
    NO_PERMISSION: "this user lacks the permission, see: jarvis admin roles --help, and",
    "28000": "check user, password and permissions; see",
    "28P01": "check user, password and permissions; see",
    "3D000": "create the database, or correct its name in",
}
# A server connection that a pooler gives to several clients has the prepared statements of all of them.
SHARED_STATEMENTS = ("26000", "42P05")
SHARED_ADVICE = "a connection pooler shares its connections; set prepare_threshold=none in JARVIS_STORE_URL"
# Errors while connecting have no SQLSTATE: messages of PostgreSQL, pgbouncer and libpq, in lower case.
MARKS = (
    (("unsupported startup parameter",), "a connection pooler refuses this option; remove it from"),
    (("authentication failed", "no password supplied", "permission denied", "no pg_hba.conf entry"), ADVICE["28000"]),
    (("is not permitted to log in", "no such user", "not allowed"), ADVICE["28000"]),
    (("no such database",), ADVICE["3D000"]),
    (("connection is bad: invalid", "unrecognized configuration parameter"), "correct the option in"),
)
MISSING = (('role "', ADVICE["28000"]), ('database "', ADVICE["3D000"]))
ANSWERED = "fatal: "


def refusal(text: str, sqlstate: str | None) -> str | None:
    """Return what to do about a lasting refusal; None for an outage. `text` is the driver's message, of any length."""
    if sqlstate is not None:
        return ADVICE.get(sqlstate)
    found = (
        advice for line in text.lower().splitlines() for marks, advice in MARKS if any(mark in line for mark in marks)
    )
    missing = (
        advice
        for line in text.lower().splitlines()
        for subject, advice in MISSING
        if subject in line and line.endswith("does not exist")
    )
    return next(found, None) or next(missing, None)


def answered(text: str) -> bool:
    """Return whether a server has sent this message: it is running, although it takes no connections for now."""
    return ANSWERED in text.lower()
