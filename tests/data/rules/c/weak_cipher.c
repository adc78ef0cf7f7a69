void store(EVP_CIPHER_CTX *ctx, HCRYPTPROV provider, HCRYPTHASH hash)
{
    EVP_EncryptInit_ex(ctx, EVP_des_cbc(), NULL, key, iv);       /* ruleid: weak_cipher */
    EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, key, NULL); /* ruleid: weak_cipher */
    EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, iv);   /* ok: weak_cipher */
}

void send(HCRYPTPROV provider, HCRYPTHASH hash)
{
    const EVP_CIPHER *kind = EVP_rc4();                          /* ruleid: weak_cipher */
    RC4(&state, size, in, out);                                  /* ruleid: weak_cipher */
    if (!CryptDeriveKey(provider, CALG_3DES, hash, 0, &made))    /* ruleid: weak_cipher */
        fail();
    CryptDeriveKey(provider, CALG_AES_256, hash, 0, &made);      /* ok: weak_cipher */
    settings.algorithm = CALG_RC2;                               /* ruleid: weak_cipher */
}

static void show(int algorithm)
{
    switch (algorithm) {
    case CALG_DES:                                               /* ok: weak_cipher */
        puts("DES");
    }
    if (algorithm == CALG_RC4)                                   /* ok: weak_cipher */
        warn_old();
}

void des_wrap(unsigned char *block)
{
    DES_ecb_encrypt(in, out, &schedule, DES_ENCRYPT);            /* ok: weak_cipher */
}

const int known[] = { CALG_DES, CALG_RC4 };                      /* ok: weak_cipher */
const EVP_CIPHER *EVP_des_cbc(void);                             /* ok: weak_cipher */

void register_all(void)
{
    add(EVP_aes_128_gcm());
    add(EVP_aes_256_gcm());
    add(EVP_aes_128_cbc());
    add(EVP_aes_256_cbc());
    add(EVP_aes_128_ctr());
    add(EVP_des_ede3_cbc());                                     /* ok: weak_cipher */
}
