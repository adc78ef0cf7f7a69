char *tmpnam(char *s);                             /* ok: insecure_tmpfile */
extern char *mktemp (char *);                      /* ok: insecure_tmpfile */
void scratch(void)
{
    char *a = tmpnam(NULL);                        /* ruleid: insecure_tmpfile */
    if (!tmpnam_r(buf)) return;                    /* ruleid: insecure_tmpfile */
    fopen(tempnam("/tmp", "x"), "w");              /* ruleid: insecure_tmpfile */
    mktemp (template);                             /* ruleid: insecure_tmpfile */
    return open(mktemp(template), O_CREAT);        /* ruleid: insecure_tmpfile */
    mkstemp(template);                             /* ok: insecure_tmpfile */
    tmpfile();                                     /* ok: insecure_tmpfile */
    mkdtemp(template);                             /* ok: insecure_tmpfile */
    dir->mktemp(template);                         /* ok: insecure_tmpfile */
    fn = &tmpnam;                                  /* ok: insecure_tmpfile */
    mktemp(dir, template);                         /* ok: insecure_tmpfile */
}
int own_file(void)
{
    char template[] = "fileXXXXXX";
    char *name = tempnam("/tmp", "x");             /* ok: insecure_tmpfile */
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    name = mktemp(template);                       /* ruleid: insecure_tmpfile */
    fd = open(template, O_RDWR | O_CREAT, 0600);
    return fd;
}
FILE *own_stream(void)
{
    wchar_t *name = _wtempnam(NULL, L"x");         /* ok: insecure_tmpfile */
    return _wfopen(name, L"wx");
}
