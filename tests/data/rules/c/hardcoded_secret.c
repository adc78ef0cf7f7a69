#define DB_PASSWORD "S3cure!pass9"                 /* ruleid: hardcoded_secret */
#define PASSWORD_PROMPT "Password: "               /* ok: hardcoded_secret */
#define CONFIG_PASSWORD "requirepass"              /* ok: hardcoded_secret */

static const char access_key[] = "9f8a7c6d5e4b3a2918f7e6d5c4b3a291"; /* ruleid: hardcoded_secret */
const char *remote = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"; /* ruleid: hardcoded_secret */
static const char *cloud = "AKIAJ5Q7ZRD2WXNV4T3B"; /* ruleid: hardcoded_secret */
static const char *documented = "AKIAIOSFODNN7EXAMPLE"; /* ok: hardcoded_secret */

static const char *certificate =
    "-----BEGIN RSA PRIVATE KEY-----\n"            /* ruleid: hardcoded_secret */
    "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi8kLr1uWqJxTfVpzH5aC0dYwEb\n"
    "-----END RSA PRIVATE KEY-----\n";
static const char *marker = "-----BEGIN PRIVATE KEY-----"; /* ok: hardcoded_secret */

int check(struct login *login)
{
    if (strcmp(login->password, "hunter2!") == 0)  /* ruleid: hardcoded_secret */
        return 1;
    return !strcmp("0pen-Sesame", login->passwd);  /* ruleid: hardcoded_secret */
}

bool Account::connect()
{
    options.password = "letmein";                  /* ruleid: hardcoded_secret */
    options.setPassword("Tr0ub4dor&3");            /* ruleid: hardcoded_secret */
    curl_easy_setopt(handle, CURLOPT_PASSWORD, "xipj3plmq"); /* ruleid: hardcoded_secret */
    return auth_token == "f3b1c77d90e24a58ab6c"    /* ruleid: hardcoded_secret */
        || password == stored;
}

const uint8_t wifi_passphrase[] = { "c0rrect.horse" }; /* ruleid: hardcoded_secret */

void near_misses(struct parser *parser)
{
    char *password = "";                           /* ok: hardcoded_secret */
    parser->token = "identifier";                  /* ok: hardcoded_secret */
    parser->secret = "<secret>";                   /* ok: hardcoded_secret */
    password = "changeme";                         /* ok: hardcoded_secret */
    password = getenv("DB_PASSWORD");              /* ok: hardcoded_secret */
    const char *passwd = "/etc/passwd";            /* ok: hardcoded_secret */
    printf("password: %s", password);              /* ok: hardcoded_secret */
    if (strcmp(token, "queue_qos0_messages") == 0)  /* ok: hardcoded_secret */
        return 6;
    if (!strcmp(token, "ciphers_tls1.3"))           /* ok: hardcoded_secret */
        return 7;
    if (!strncmp(password, "$argon2id$", 10))       /* ok: hardcoded_secret */
        return 8;
    if (strcmp(token, "<=") == 0)                  /* ok: hardcoded_secret */
        set_password(NULL);                        /* ok: hardcoded_secret */
    use(parser->password, "2048");                 /* ok: hardcoded_secret */
    struct option o = { .name = "password" };      /* ok: hardcoded_secret */
    const char *secret = "%s:%d";                  /* ok: hardcoded_secret */
    const char *api_token = "XXXXXXXXXXXXXXXX";    /* ok: hardcoded_secret */
}
#define ADMIN_PASSWORD L"Tr0ub4dor!x9"                     /* ruleid: hardcoded_secret */
void copies(char *password, wchar_t *new_password)
{
    strcpy(password, "S3cure!pass9");                      /* ruleid: hardcoded_secret */
    wcscpy(new_password, L"S3cure!pass9");                 /* ruleid: hardcoded_secret */
    wcsncpy(new_password, ADMIN_PASSWORD, 16);             /* ruleid: hardcoded_secret */
    strcpy(password, typed);                               /* ok: hardcoded_secret */
    strcpy(password, "");                                  /* ok: hardcoded_secret */
    strcpy(password, DEFAULT_NAME);                        /* ok: hardcoded_secret */
    prompt(password, "S3cure!pass9");                      /* ok: hardcoded_secret */
}
