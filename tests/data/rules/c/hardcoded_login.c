#define DB_PASS "Blue-Door-77"
#define ACCOUNT_PW L"Gr8.Harbour"
static const unsigned char disk_key[16] = { 0x10, 0x42, 0x93, 0x07, 0x55, 0x61, 0x7c, 0x88, 0x91, 0xa0, 1, 2, 3, 4, 5, 6 };

int connect_db(MYSQL *db, const char *typed)
{
    char password[64];
    wchar_t wide[64];

    mysql_real_connect(db, host, "app", "Wint3r!sun", "shop", 0, NULL, 0);  /* ruleid: hardcoded_login */
    mysql_real_connect(db, host, "app", DB_PASS, "shop", 0, NULL, 0);       /* ruleid: hardcoded_login */
    mysql_real_connect(db, host, "app", "", "shop", 0, NULL, 0);            /* ok: hardcoded_login */
    mysql_real_connect(db, host, "app", NULL, "shop", 0, NULL, 0);          /* ok: hardcoded_login */
    mysql_real_connect(db, host, "app", typed, "shop", 0, NULL, 0);         /* ok: hardcoded_login */
    strcpy(password, DB_PASS);
    PQsetdbLogin(host, port, NULL, NULL, "shop", "app", password);          /* ruleid: hardcoded_login */
    wcscpy(wide, ACCOUNT_PW);
    if (LogonUserW(L"svc", L".", wide, 2, 0, &token) == 0)                  /* ruleid: hardcoded_login */
        return -1;
    fgetws(wide, 64, stdin);
    return 0;
}

int ask(LDAP *server)
{
    char password[64] = "";
    fgets(password, sizeof password, stdin);
    strcpy(password, typed);
    return ldap_simple_bind_s(server, name, password);                      /* ok: hardcoded_login */
}

void options(CURL *curl, const char *secret)
{
    curl_easy_setopt(curl, CURLOPT_PASSWORD, "m4ple-syrup");                /* ruleid: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "m4ple-syrup");               /* ok: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_PASSWORD, secret);                       /* ok: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_PASSWORD, "<password>");                 /* ok: hardcoded_login */
    EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, disk_key, iv);         /* ruleid: hardcoded_login */
    EVP_EncryptInit_ex(ctx, NULL, NULL, derived_key, iv);                   /* ok: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_USERPWD, "reports:Plum-Tree-31");        /* ruleid: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_USERPWD, ":");                           /* ok: hardcoded_login */
    curl_easy_setopt(curl, CURLOPT_PASSWORD, getenv("UPLOAD_PASSWORD"));    /* ok: hardcoded_login */
    const char *pass = "Orange!box9";
    libssh2_userauth_password(session, "backup", pass);                     /* ruleid: hardcoded_login */
}
