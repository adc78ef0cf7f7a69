"""weak_cipher and weak_hash: broken algorithms, recognized by their names in crypto libraries.

A broken cipher is always a finding, since a cipher protects secrets.  A hash is often only a checksum, which is not
reported; near passwords or signatures, it is reported with high confidence.
"""

import re

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

BROKEN, SLOW, WHOLE = 0.1, -0.05, 0.0
HASH_BROKEN, HASH_WEAK, MATTERS = 0.05, -0.1, 0.25
NEARBY, LISTED_MIN = 400, 5
CIPHERS: dict[bytes, float] = {
    **dict.fromkeys(
        b"EVP_des_ecb EVP_des_cbc EVP_des_cfb EVP_des_cfb64 EVP_des_cfb8 EVP_des_cfb1 EVP_des_ofb EVP_desx_cbc EVP_rc4 "
        b"EVP_rc4_40 EVP_rc4_hmac_md5 EVP_rc2_ecb EVP_rc2_cbc EVP_rc2_40_cbc EVP_rc2_64_cbc EVP_rc2_cfb EVP_rc2_ofb "
        b"DES_set_key DES_set_key_checked DES_set_key_unchecked DES_ecb_encrypt DES_ncbc_encrypt DES_cbc_encrypt "
        b"DES_cfb_encrypt DES_cfb64_encrypt DES_ofb_encrypt DES_ofb64_encrypt DES_pcbc_encrypt des_ecb_encrypt "
        b"des_cbc_encrypt des_ncbc_encrypt des_setkey RC4 RC4_set_key RC2_set_key RC2_encrypt RC2_ecb_encrypt "
        b"RC2_cbc_encrypt mbedtls_des_setkey_enc mbedtls_des_setkey_dec mbedtls_des_crypt_ecb mbedtls_des_crypt_cbc "
        b"mbedtls_arc4_setup mbedtls_arc4_crypt wc_Des_SetKey wc_Des_CbcEncrypt wc_Arc4SetKey wc_Arc4Process "
        b"des_set_key arcfour_set_key arctwo_set_key".split(),
        BROKEN,
    ),
    **dict.fromkeys(
        b"EVP_des_ede EVP_des_ede_cbc EVP_des_ede3 EVP_des_ede3_cbc EVP_des_ede3_cfb EVP_des_ede3_ofb EVP_bf_ecb "
        b"EVP_bf_cbc EVP_cast5_ecb EVP_cast5_cbc EVP_idea_ecb EVP_idea_cbc DES_ecb3_encrypt DES_ede3_cbc_encrypt "
        b"mbedtls_des3_set2key_enc mbedtls_des3_set3key_enc wc_Des3_SetKey BF_set_key BF_ecb_encrypt".split(),
        SLOW,
    ),
    **dict.fromkeys(
        b"EVP_aes_128_ecb EVP_aes_192_ecb EVP_aes_256_ecb EVP_camellia_128_ecb EVP_camellia_256_ecb EVP_aria_256_ecb "
        b"AES_ecb_encrypt".split(),
        WHOLE,
    ),
}
CIPHER_WORDS: dict[bytes, float] = {
    **dict.fromkeys(
        b"CALG_DES CALG_DESX CALG_RC2 CALG_RC4 CALG_RC5 CALG_SKIPJACK CALG_CYLINK_MEK "
        b"GCRY_CIPHER_DES GCRY_CIPHER_ARCFOUR GCRY_CIPHER_RFC2268_40 GCRY_CIPHER_RFC2268_128 BCRYPT_DES_ALGORITHM "
        b"BCRYPT_DESX_ALGORITHM BCRYPT_RC2_ALGORITHM BCRYPT_RC4_ALGORITHM kCCAlgorithmDES kCCAlgorithmRC4 "
        b"kCCAlgorithmRC2 GNUTLS_CIPHER_ARCFOUR_128 GNUTLS_CIPHER_ARCFOUR_40 GNUTLS_CIPHER_DES_CBC "
        b"MBEDTLS_CIPHER_DES_CBC MBEDTLS_CIPHER_DES_ECB MBEDTLS_CIPHER_ARC4_128".split(),
        BROKEN,
    ),
    **dict.fromkeys(
        b"CALG_3DES CALG_3DES_112 GCRY_CIPHER_3DES GCRY_CIPHER_BLOWFISH BCRYPT_3DES_ALGORITHM "
        b"BCRYPT_3DES_112_ALGORITHM kCCAlgorithm3DES GNUTLS_CIPHER_3DES_CBC MBEDTLS_CIPHER_DES_EDE3_CBC".split(),
        SLOW,
    ),
    **dict.fromkeys(
        b"GCRY_CIPHER_MODE_ECB BCRYPT_CHAIN_MODE_ECB kCCOptionECBMode CRYPT_MODE_ECB MBEDTLS_CIPHER_AES_128_ECB "
        b"MBEDTLS_CIPHER_AES_256_ECB".split(),
        WHOLE,
    ),
}
HASHES: dict[bytes, float] = {
    **dict.fromkeys(
        b"EVP_md2 EVP_md4 EVP_md5 EVP_mdc2 EVP_md5_sha1 MD2 MD4 MD5 MD2_Init MD4_Init MD5_Init mbedtls_md2 mbedtls_md4 "
        b"mbedtls_md5 mbedtls_md5_ret mbedtls_md5_starts mbedtls_md5_starts_ret CC_MD2 CC_MD4 CC_MD5 CC_MD5_Init "
        b"wc_InitMd5 wc_Md5Hash gcry_md5_hash".split(),
        HASH_BROKEN,
    ),
    **dict.fromkeys(
        b"EVP_sha1 SHA1 SHA1_Init mbedtls_sha1 mbedtls_sha1_ret mbedtls_sha1_starts mbedtls_sha1_starts_ret CC_SHA1 "
        b"CC_SHA1_Init wc_InitSha wc_ShaHash".split(),
        HASH_WEAK,
    ),
}
HASH_WORDS: dict[bytes, float] = {
    **dict.fromkeys(
        b"CALG_MD2 CALG_MD4 CALG_MD5 GCRY_MD_MD2 GCRY_MD_MD4 GCRY_MD_MD5 BCRYPT_MD2_ALGORITHM BCRYPT_MD4_ALGORITHM "
        b"BCRYPT_MD5_ALGORITHM GNUTLS_DIG_MD5 GNUTLS_DIG_MD2 MBEDTLS_MD_MD2 MBEDTLS_MD_MD4 MBEDTLS_MD_MD5".split(),
        HASH_BROKEN,
    ),
    **dict.fromkeys(
        b"CALG_SHA CALG_SHA1 GCRY_MD_SHA1 BCRYPT_SHA1_ALGORITHM GNUTLS_DIG_SHA1 MBEDTLS_MD_SHA1".split(), HASH_WEAK
    ),
}
ALGORITHM = lazy(rb"md[245]|sha1?|3?des|rc[245]|arc4|arcfour|ecb|bf|blowfish|cast5|idea", re.IGNORECASE)
HARMLESS = lazy(
    rb"check_?sum|etag|finger_?print|cache|dedup|uuid|\bid_|_id\b|hash_?table|bucket|digest_?list|test|bench|speed|"
    rb"wpa|ntlm|websocket|web_socket|ws_accept|handshake|legacy|compat|known_hosts|git|torrent|content_?hash|blob",
    re.IGNORECASE,
)
# Collision attacks do not apply to these constructions.
LISTED = lazy(
    rb"\b(?:EVP_[a-z]+_?\d\w*\(\)|EVP_des_\w+|CALG_\w+|GCRY_(?:CIPHER|MD)_\w+|BCRYPT_\w+_ALGORITHM|kCCAlgorithm\w+)"
)
# Protocols that prescribe their hash, which a program cannot choose.
PRESCRIBED = lazy(
    rb"ntlm|ms_?chap|cram_?md5|digest_?md5|\bapop\b|http_?digest|digest_?auth|radius|tacacs|kerberos|krb5|sha1_?crypt",
    re.IGNORECASE,
)
PROTOCOL_REACH = 2_048
SECRETS = lazy(rb"passw(?:or)?d|passphrase|\bpwd|secret|sign(?:ature|ing)?\b|private_?key|credential", re.IGNORECASE)
ARGUMENT_BEFORE, ARGUMENT_AFTER = (b"(", b",", b"|"), (b")", b",", b"|")


def check_cipher(site: Site) -> float | None:
    """Skip code that implements or lists algorithms: functions named after an algorithm, tables, comparisons."""
    if not _is_chosen(site):
        return None
    name = site.name
    return CIPHERS[name] if name in CIPHERS else CIPHER_WORDS[name]


def check_hash(site: Site) -> float | None:
    if not _is_chosen(site) or site.function is None:
        return None
    name = site.name
    moved = HASHES[name] if name in HASHES else HASH_WORDS[name]
    nearby = site.before(NEARBY) + site.after(NEARBY // 2)
    if SECRETS.search(site.function.name) or SECRETS.search(nearby):
        return moved if _is_prescribed(site, site.function.name) else moved + MATTERS
    return None if HARMLESS.search(site.function.name) or HARMLESS.search(nearby) else moved


def _is_prescribed(site: Site, name: bytes) -> bool:
    """Return whether the function is named after a protocol that prescribes its hash, or mentions one before."""
    return PRESCRIBED.search(name) is not None or PRESCRIBED.search(site.before(PROTOCOL_REACH)) is not None


def _is_chosen(site: Site) -> bool:
    function, text = site.function, site.source.text
    if function is None or site.source.test or ALGORITHM.search(function.name) or _is_listed(site):
        return False
    if site.at > site.start + len(site.name) or text[site.at : site.at + 1] == b"(":
        return True
    before, after = text[max(0, site.start - 64) : site.start].rstrip(), text[site.at : site.at + 16].lstrip()
    if before.endswith(b"=") and not before.endswith((b"==", b"!=", b"<=", b">=")):
        return after.startswith(b";")
    return before.endswith(ARGUMENT_BEFORE) and not before.endswith(b"||") and after.startswith(ARGUMENT_AFTER)


def _is_listed(site: Site) -> bool:
    """Return whether the surrounding code registers or compares many algorithms."""
    start, end = site.function.body if site.function else (site.start, site.at)
    near = max(start, site.start - NEARBY), min(end, site.at + NEARBY)
    return len(set(LISTED.findall(site.source.text, *near))) >= LISTED_MIN


RULES: tuple[Rule, ...] = (
    rule(
        "weak_cipher",
        check_cipher,
        calls=tuple(name.decode() for name in CIPHERS),
        words=tuple(name.decode() for name in CIPHER_WORDS),
    ),
    rule(
        "weak_hash",
        check_hash,
        calls=tuple(name.decode() for name in HASHES),
        words=tuple(name.decode() for name in HASH_WORDS),
    ),
)
