void login(struct conn *c, const char *user, const char *password, FILE *log)
{
    fprintf(log, "login of %s with %s\n", user, password); /* ruleid: secret_logged */
    printf("password: %s\n", c->password); /* ruleid: secret_logged */
    syslog(LOG_INFO, "user=%s pass=%s", user, c->auth.passwd); /* ruleid: secret_logged */
    log_debug("secret is %s", secret); /* ruleid: secret_logged */
    fputs(client_secret, log); /* ruleid: secret_logged */
    fwrite(private_key, 1, size, log); /* ruleid: secret_logged */
    LOG(INFO, "key %s", conf->api_key); /* ruleid: secret_logged */
    pr_info("passphrase %s\n",
            dev->passphrase); /* ruleid: secret_logged */
    my_log(c, 3, "%s", *user_password); /* ruleid: secret_logged */

    fprintf(log, "login of %s\n", user); /* ok: secret_logged */
    printf("Enter password: "); /* ok: secret_logged */
    printf("%s\n", password ? "***" : "none"); /* ok: secret_logged */
    printf("%zu\n", strlen(password)); /* ok: secret_logged */
    snprintf(text, sizeof text, "PASS %s", password); /* ok: secret_logged */
    send_password(c, password); /* ok: secret_logged */
    free(password); /* ok: secret_logged */
    log_debug("no %s", MISSING_PASSWORD); /* ok: secret_logged */
    printf("%p\n", &c->password_length); /* ok: secret_logged */
    printf("%s\n", _("wrong password")); /* ok: secret_logged */
    if (password == NULL) /* ok: secret_logged */
        return;
    printf("hash %s\n", hash(password)); /* ok: secret_logged */
    strcpy(c->password, password); /* ok: secret_logged */
}
