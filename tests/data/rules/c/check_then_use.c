#ifdef _WIN32
#define ASK _stat
#else
#define ASK stat
#endif

int append(const char *path, const char *text)
{
    struct ASK info;
    int fd;

    if (access(path, W_OK) == 0) {                 /* ruleid: check_then_use */
        fd = open(path, O_WRONLY | O_APPEND);
        return fd;
    }
    if (ASK(path, &info) == 0 && S_ISREG(info.st_mode)) /* ruleid: check_then_use */
        unlink(path);
    return -1;
}

FILE *load(struct job *job)
{
    struct stat st;
    if (lstat(job->file, &st) < 0 || st.st_uid)    /* ruleid: check_then_use */
        return NULL;
    log_debug("loading %s", job->file);
    return fopen(job->file, "r");
}

void wide(const wchar_t *name)
{
    if (_waccess(name, 0) != -1)                   /* ruleid: check_then_use */
        out = _wfopen(name, L"w");
}

void give(char *dir)
{
    if (stat(dir, &st) == -1)                      /* ruleid: check_then_use */
        mkdir(dir, 0700);
    if (faccessat(AT_FDCWD, dir, X_OK, 0) == 0)    /* ruleid: check_then_use */
        execl(dir, dir, NULL);
}

int careful(const char *path, char *other)
{
    struct stat before, after;

    if (lstat(path, &before) < 0)                  /* ok: check_then_use */
        return -1;
    int fd = open(path, O_RDONLY);
    if (fstat(fd, &after) < 0 || before.st_ino != after.st_ino)
        return -1;
    if (access(other, F_OK) == 0)                  /* ok: check_then_use */
        puts("there already");
    return fd;
}

int fresh(char *path)
{
    if (access(path, F_OK) != 0)                   /* ok: check_then_use */
        return open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    return -1;
}

int another(char *path)
{
    if (access(path, F_OK) != 0) {                 /* ok: check_then_use */
        snprintf(path, 80, "%s/default", home);
        return open(path, O_RDONLY);
    }
    if (access("/etc/app", R_OK))                  /* ok: check_then_use */
        path = find();
    if (stat(path, &st) == 0)                      /* ok: check_then_use */
        path = "/etc/default";
    return open(path, O_RDONLY);
}

void acl(struct filter *access)
{
    access->stat(path, 1);                         /* ok: check_then_use */
    fopen(path, "r");
}

/* A cache directory is made, then given to the user of the service. */
int own(const char *dir, uid_t user)
{
    struct stat st;

    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode)) /* ruleid: check_then_use */
        return chown(dir, user, (gid_t)-1);
    return -1;
}

int rotate(const char *log, const char *old)
{
    struct stat st;

    if (stat(log, &st) == 0 && st.st_size > LIMIT) /* ruleid: check_then_use */
        return rename(log, old);
    return 0;
}

off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_size : -1; /* ok: check_then_use */
}
