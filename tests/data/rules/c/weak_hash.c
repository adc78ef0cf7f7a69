int sign_order(EVP_MD_CTX *ctx, struct order *order)
{
    EVP_DigestInit_ex(ctx, EVP_md5(), NULL);                     /* ruleid: weak_hash */
    EVP_DigestInit_ex(ctx, EVP_sha1(), NULL);                    /* ruleid: weak_hash */
    EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);                  /* ok: weak_hash */
    return 0;
}

void remember(const char *password, unsigned char *out)
{
    MD5((const unsigned char *)password, strlen(password), out); /* ruleid: weak_hash */
    SHA256((const unsigned char *)password, 8, out);             /* ok: weak_hash */
}

void integrity(HCRYPTPROV provider)
{
    CryptCreateHash(provider, CALG_SHA1, 0, 0, &hash);           /* ruleid: weak_hash */
    CryptCreateHash(provider, CALG_MD2, 0, 0, &hash);            /* ruleid: weak_hash */
    CryptCreateHash(provider, CALG_SHA_512, 0, 0, &hash);        /* ok: weak_hash */
    if (algorithm == CALG_MD5)                                   /* ok: weak_hash */
        refuse();
}

void etag_of(const char *body, unsigned char *out)
{
    MD5(body, strlen(body), out);                                /* ok: weak_hash */
}

void md5_hex(const char *text)
{
    MD5_Init(&state);                                            /* ok: weak_hash */
}

void file_checksum(FILE *in)
{
    SHA1_Init(&state);                                           /* ok: weak_hash */
}

unsigned char *MD5(const unsigned char *text, size_t size, unsigned char *out); /* ok: weak_hash */
