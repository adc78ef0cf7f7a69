void report(const char *name, int line, size_t size, uint64_t id, FILE *f)
{
    char text[64];
    printf("%s: line %d\n", name); /* ruleid: format_arguments */
    fprintf(f, "Error: %d\n"); /* ruleid: format_arguments */
    snprintf(text, sizeof text, "%s-%u-%s", name, line); /* ruleid: format_arguments */
    printf("%d\n", "twelve"); /* ruleid: format_arguments */
    printf("%s\n", 12); /* ruleid: format_arguments */
    fprintf(stderr, "%s: %s\n", name, name, line); /* ruleid: format_arguments */
    syslog(LOG_ERR, "cannot open %s: %s", name); /* ruleid: format_arguments */
    sprintf(text, "%*d", line); /* ruleid: format_arguments */
    printf("%.*s\n", name); /* ruleid: format_arguments */
    sscanf(name, "%d %d", &line); /* ruleid: format_arguments */
    printf("id %" PRIu64 " of %s\n", id); /* ruleid: format_arguments */
    printf("%d bytes\n", sizeof(text)); /* ruleid: format_arguments */
    dprintf(1, "100%% of %s\n"); /* ruleid: format_arguments */

    printf("%s: line %d\n", name, line); /* ok: format_arguments */
    printf("100%%\n"); /* ok: format_arguments */
    printf("id %" PRIu64 "\n", id); /* ok: format_arguments */
    printf("%-*s|%.*s\n", line, name, line, name); /* ok: format_arguments */
    printf("%2$s %1$s\n", name, name); /* ok: format_arguments */
    syslog(LOG_ERR, "cannot open %s: %m", name); /* ok: format_arguments */
    printf(FORMAT, name); /* ok: format_arguments */
    printf("%d.%d.%d.%d\n", NIPQUAD(id)); /* ok: format_arguments */
    printf("%s %s\n", ARGS); /* ok: format_arguments */
    sscanf(name, "%*d %d%n", &line, &used); /* ok: format_arguments */
    sscanf(name, "%[^]] %63[a-z]", text, text); /* ok: format_arguments */
    printf("%s\n", line ? "yes" : "no"); /* ok: format_arguments */
    printf("%zu bytes\n", sizeof(text)); /* ok: format_arguments */
    printf("%d bytes\n", (int)sizeof(text)); /* ok: format_arguments */
    printf("%c%s\n", 'a', "b"); /* ok: format_arguments */
    printf(PREFIX "%s\n", name); /* ok: format_arguments */
    printf("a very " "long %s"
           " text\n", name); /* ok: format_arguments */
    printf("%s, %s\n", f(name, line), g(line)); /* ok: format_arguments */
    vprintf("%s %s\n", list); /* ok: format_arguments */
    logger->printf("%s\n"); /* ok: format_arguments */
    printf("%I64d %hhx\n", id, line); /* ok: format_arguments */
}
#define SAY(...) printf("%s: %d\n", __VA_ARGS__) /* ok: format_arguments */

#define S(n) n, n == 1 ? "" : "s"
void tell(int locals)
{
    printf("%d local%s\n", S(locals));             /* ok: format_arguments */
}
