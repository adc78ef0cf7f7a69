int check(struct user *u, const char *given, const unsigned char *received, size_t n)
{
    unsigned char hmac[32];
    if (memcmp(hmac, received, 32) != 0) /* ruleid: secret_compare */
        return -1;
    if (strcmp(u->password, given) == 0) /* ruleid: secret_compare */
        return 0;
    if (!strncmp(server.secret, given, strlen(server.secret))) /* ruleid: secret_compare */
        return 0;
    if (bcmp(computed_mac, received + n - 16, 16)) /* ok: secret_compare */
        return -1;
    if (memcmp(record.mac, received, sizeof record.mac)) /* ruleid: secret_compare */
        return -1;
    if (strcmp(given, session_token) == 0) /* ruleid: secret_compare */
        return 1;
    if (std::memcmp(auth_tag, received, 16)) /* ruleid: secret_compare */
        return -1;
    if (strcmp(api_key, given)) /* ruleid: secret_compare */
        return -1;
    if (memcmp((const void *)cookie_secret, received, n)) /* ruleid: secret_compare */
        return -1;
    if (strcmp(crypt(given, salt), u->passwd_hash) == 0) /* ok: secret_compare */
        return 0;

    if (CRYPTO_memcmp(hmac, received, 32) != 0) /* ok: secret_compare */
        return -1;
    if (strcmp(key, "password") == 0) /* ok: secret_compare */
        return 1;
    if (strcmp(password, password_again) != 0) /* ok: secret_compare */
        return 2;
    if (strcmp(token, ")") == 0) /* ok: secret_compare */
        return 3;
    if (memcmp(eth->mac_addr, other->mac_addr, 6) == 0) /* ok: secret_compare */
        return 4;
    if (strcmp(secret_file, path) == 0) /* ok: secret_compare */
        return 5;
    if (strcmp(hmac_algorithm, name) == 0) /* ok: secret_compare */
        return 6;
    if (memcmp(digest, expected, 20)) /* ok: secret_compare */
        return 7;
    if (strcmp(old_password, new_password) == 0) /* ok: secret_compare */
        return 8;
    if (strcmp(passphrase_prompt, text) == 0) /* ok: secret_compare */
        return 9;
    if (strcmp(password, retyped) != 0) /* ok: secret_compare */
        return 10;
    return strcmp(a, b); /* ok: secret_compare */
}
