void write_log(void)
{
    FILE *f = fopen("/tmp/server.log", "w");       /* ruleid: predictable_tmpfile */
    f = fopen("/var/tmp/server.log", "a+");        /* ruleid: predictable_tmpfile */
    f = fopen("/tmp/server.log", "r");             /* ok: predictable_tmpfile */
    f = fopen("/tmp/server.log", "wx");            /* ok: predictable_tmpfile */
    f = fopen("/var/log/tmp/server", "w");         /* ok: predictable_tmpfile */
    f = fopen("/tmp/", mode);                      /* ok: predictable_tmpfile */
    f = _wfopen(L"/tmp/server.log", L"w");         /* ruleid: predictable_tmpfile */
}

int take_lock(void)
{
    int fd = open( "/tmp/.lock",                   /* ruleid: predictable_tmpfile */
                   O_RDWR | O_CREAT, 0600);
    fd = open("/tmp/.lock", O_CREAT | O_EXCL, 0600);  /* ok: predictable_tmpfile */
    fd = open("/tmp/.lock", O_RDONLY);             /* ok: predictable_tmpfile */
    fd = creat("/tmp/.lock", 0600);                /* ruleid: predictable_tmpfile */
    fd = openat(AT_FDCWD, "/usr/tmp/x", O_CREAT | O_TRUNC, 0600); /* ruleid: predictable_tmpfile */
    store->open("/tmp/.lock", O_CREAT, 0600);      /* ok: predictable_tmpfile */
    return fd; /* open("/tmp/x", O_CREAT) */
}
