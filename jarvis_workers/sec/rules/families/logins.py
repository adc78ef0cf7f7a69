"""hardcoded_login: a hard-coded password or key is passed to a function that expects a secret.

The called function shows that the argument is a secret, regardless of its name; the origin of the argument is traced
backwards.
"""

from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.declarations import Scope, bare
from jarvis_workers.sec.rules.analysis.macros import text_macros
from jarvis_workers.sec.rules.rule import Rule, Site, SourceText, rule
from jarvis_workers.source.lazy_regex import lazy

REACH, OPTION_REACH = 4_096, 80
KEY_BYTES_MIN, SHORT, NAME_MAX = 7, 4, 64
FROM_COPY, AS_KEY = -0.05, 0.0
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
TEXT = lazy(rb'(?>(?:u8|[LuU])?"[^"]*+"\s*+)++\Z')
WIDE_MACRO = lazy(rb"(?:_T|TEXT|_TEXT|L)\s*+\(\s*+(\"[^\"]*+\")\s*+\)\Z")
BYTES = lazy(rb"\{\s*+(?:(?:0[xX][0-9a-fA-F]+|\d+|'[^']*')\s*+,\s*+){%d,}" % KEY_BYTES_MIN)
ARRAY = lazy(rb'\[[^][;]*+\]\s*+=\s*+((?:u8|[LuU])?"[^"]*+"|\{[^{};]*+\})')
COPIED = lazy(rb"\b(?:str|wcs|_tcs|lstr|mem|wmem)n?cpy\w*+\s*+\(\s*+([A-Za-z_]\w*+)\s*+,\s*+([^,;()]++)[,)]")
LAST_NAME = lazy(rb"[A-Za-z_]\w*+\Z")
PLACEHOLDER = lazy(rb"\s*+(?:<[^>]*+>|\.{3}|\*+|%\w+|[^:]*+:)?\s*+\Z")


class SecretArgument(NamedTuple):
    """Position of the secret argument; if `options` are given, the second argument must contain one of them."""

    place: int
    options: tuple[bytes, ...] = ()


CURL_SECRETS = (
    *b"CURLOPT_PASSWORD CURLOPT_USERPWD CURLOPT_PROXYPASSWORD CURLOPT_PROXYUSERPWD CURLOPT_KEYPASSWD".split(),
    *b"CURLOPT_TLSAUTH_PASSWORD CURLOPT_XOAUTH2_BEARER".split(),
)
SECRETS: dict[bytes, SecretArgument] = {
    **dict.fromkeys(b"LogonUser LogonUserA LogonUserW".split(), SecretArgument(2)),
    **dict.fromkeys(b"CreateProcessWithLogonW NetUserChangePassword".split(), SecretArgument(2)),
    **dict.fromkeys(b"WNetAddConnection2A WNetAddConnection2W".split(), SecretArgument(1)),
    **dict.fromkeys(b"InternetConnectA InternetConnectW".split(), SecretArgument(4)),
    **dict.fromkeys(b"mysql_real_connect mysql_real_connect_nonblocking".split(), SecretArgument(3)),
    **dict.fromkeys(b"SQLConnect SQLConnectA SQLConnectW".split(), SecretArgument(5)),
    **dict.fromkeys(b"ldap_simple_bind ldap_simple_bind_s ldap_bind ldap_bind_s".split(), SecretArgument(2)),
    **dict.fromkeys(
        b"ssh_userauth_password libssh2_userauth_password mosquitto_username_pw_set".split(), SecretArgument(2)
    ),
    b"mysql_connect": SecretArgument(2),
    b"mysql_change_user": SecretArgument(2),
    b"PQsetdbLogin": SecretArgument(6),
    b"curl_easy_setopt": SecretArgument(2, CURL_SECRETS),
    **dict.fromkeys(b"PKCS5_PBKDF2_HMAC PKCS5_PBKDF2_HMAC_SHA1".split(), SecretArgument(0)),
    **dict.fromkeys(b"AES_set_encrypt_key AES_set_decrypt_key DES_string_to_key".split(), SecretArgument(0)),
    **dict.fromkeys(b"EVP_EncryptInit EVP_DecryptInit".split(), SecretArgument(2)),
    **dict.fromkeys(b"EVP_EncryptInit_ex EVP_DecryptInit_ex EVP_CipherInit_ex".split(), SecretArgument(3)),
    **dict.fromkeys(
        b"mbedtls_aes_setkey_enc mbedtls_aes_setkey_dec mbedtls_gcm_setkey gcry_cipher_setkey".split(),
        SecretArgument(1),
    ),
    b"HMAC": SecretArgument(1),
    b"CryptHashData": SecretArgument(1),
}


def is_other_option(name: bytes, content: bytes, end: int) -> bool:
    return not _is_secret_option(SECRETS[name], content[end : end + OPTION_REACH])


def _is_secret_option(argument: SecretArgument, text: bytes) -> bool:
    return not argument.options or any(option in text for option in argument.options)


def check_login(site: Site) -> float | None:
    """Raise the confidence for a literal in the call itself."""
    argument = SECRETS[site.name]
    if site.function is None or site.source.test or not _is_secret_option(argument, site.masked(1)):
        return None
    return _constant(site, site.masked(argument.place), site.arguments.spans, argument)


def _constant(site: Site, masked: bytes, spans: tuple[tuple[int, int], ...], argument: SecretArgument) -> float | None:
    expression = bare(masked)
    if TEXT.match(expression) or WIDE_MACRO.match(expression):
        start, end = spans[argument.place]
        return _worth(site.source.content[start:end], 0.0)
    if not NAME.match(expression):
        return None
    macro = text_macros(site.source).get(expression)
    if macro is not None:
        return _worth(macro, 0.0)
    return _weigh_array(site, expression)


def _weigh_array(site: Site, name: bytes) -> float | None:
    """Check whether the last copy to the variable, its assignments, or its initializer in the file is a constant."""
    source = _copied(site, name)
    if source is not None:
        return FROM_COPY if TEXT.match(source) or source in text_macros(site.source) else None
    values = Scope(site).values(name)
    if values:
        return AS_KEY if all(_is_constant(site, one.text) for one in values) else None
    content = site.source.once("arrays", lambda: _arrays(site.source)).get(name, b"")
    return AS_KEY if BYTES.match(content) or (content[-1:] == b'"' and len(content) > SHORT) else None


def _copied(site: Site, name: bytes) -> bytes | None:
    """Return the source of the last copy to the variable in the function."""
    body = site.function.body[0] if site.function else site.start
    copies = COPIED.finditer(site.source.text, max(body, site.start - REACH), site.start)
    return next((bare(one[2]) for one in reversed(list(copies)) if one[1] == name), None)


def _is_constant(site: Site, value: bytes) -> bool:
    value = bare(value)
    if value == b'""':
        return False
    return TEXT.match(value) is not None or BYTES.match(value) is not None or value in text_macros(site.source)


def _worth(literal: bytes, moved: float) -> float | None:
    """Return `moved`, or None for an empty literal or an obvious placeholder."""
    text = literal.partition(b'"')[2].rpartition(b'"')[0]
    return None if PLACEHOLDER.match(text) else moved


def _arrays(source: SourceText) -> dict[bytes, bytes]:
    """Return the first element of each array in the file, by name."""
    named: dict[bytes, bytes] = {}
    for match in ARRAY.finditer(source.text):
        name = LAST_NAME.search(source.text, max(0, match.start() - NAME_MAX), match.start())
        if name:
            named[name[0]] = source.content[match.start(1) : match.end(1)]
    return named


RULES: tuple[Rule, ...] = (
    rule("hardcoded_login", check_login, calls=tuple(name.decode() for name in SECRETS), dismisses=is_other_option),
)
