int read_settings(FILE *in, FILE *out)
{
    char line[80], name[80];
    ssize_t got;

    if (fgets(line, sizeof line, in) < 0)          /* ruleid: wrong_result_check */
        return -1;
    if (fgets(line, sizeof line, in) == EOF)       /* ruleid: wrong_result_check */
        return -1;
    if (fgets(line, sizeof line, in) == NULL)      /* ok: wrong_result_check */
        return -1;
    while (fgets(line, sizeof line, in))           /* ok: wrong_result_check */
        lines++;
    got = fread(line, 1, sizeof line, in);         /* ruleid: wrong_result_check */
    if (got < 0)
        return -1;
    got = fread(line, 1, sizeof line, in);         /* ok: wrong_result_check */
    if (got < sizeof line)
        return -1;
    got = read(fileno(in), line, sizeof line);     /* ok: wrong_result_check */
    if (got < 0)
        return -1;
    if (fwrite(line, 1, 80, out) == -1             /* ruleid: wrong_result_check */
        || fwrite(line, 1, 80, out) != 80)         /* ok: wrong_result_check */
        return -1;
    if (fputs(line, out) == 0)                     /* ruleid: wrong_result_check */
        return -1;
    if (fputs(line, out) == EOF)                   /* ok: wrong_result_check */
        return -1;
    if (!putc('\n', out))                          /* ruleid: wrong_result_check */
        return -1;
    if (!sscanf(line, "%79s", name))               /* ruleid: wrong_result_check */
        return -1;
    if (sscanf(line, "%79s", name) != 1)           /* ok: wrong_result_check */
        return -1;
    return 0;
}

void *map(int fd, size_t size)
{
    void *at = (void *)mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0); /* ruleid: wrong_result_check */
    if (at == NULL)
        return NULL;
    at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0); /* ok: wrong_result_check */
    if (at == MAP_FAILED)
        return NULL;
    if ((at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0)) == NULL) /* ruleid: wrong_result_check */
        return NULL;
    return at;
}

int start(void)
{
    pthread_t thread;
    int fd, error;

    if (pthread_create(&thread, NULL, run, NULL) < 0)  /* ruleid: wrong_result_check */
        return -1;
    error = pthread_create(&thread, NULL, run, NULL);  /* ok: wrong_result_check */
    if (error != 0)
        return -error;
    if (!(fd = open("/etc/app", O_RDONLY)))        /* ruleid: wrong_result_check */
        return -1;
    if ((fd = open("/etc/app", O_RDONLY)) < 0)     /* ok: wrong_result_check */
        return -1;
    error = open(inode, file);                     /* ok: wrong_result_check */
    if (error == 0)
        return fd;
    error = EVP_VerifyFinal(ctx, sig, len, key);   /* ok: wrong_result_check */
    if (error == 0)
        return error;
    if (EVP_VerifyFinal(ctx, sig, len, key) == 0)  /* ruleid: wrong_result_check */
        return -1;
    if (EVP_VerifyFinal(ctx, sig, len, key) != 1)  /* ok: wrong_result_check */
        return -1;
    return fd;
}

int tidy(const char *old)
{
    if (remove(old) == 0)                          /* ruleid: wrong_result_check */
    {
        fprintf(stderr, "cannot remove %s\n", old);
    }
    if (rename(old, "new") == 0) {                 /* ok: wrong_result_check */
        count++;
    }
    if (unlink(old) == 0)                          /* ok: wrong_result_check */
        puts("gone");
    if (!rename(old, "newer"))                     /* ruleid: wrong_result_check */
        perror("rename");
    HANDLE once = CreateMutexW(NULL, FALSE, NULL); /* ruleid: wrong_result_check */
    if (once == INVALID_HANDLE_VALUE)
        return -1;
    once = CreateMutexW(NULL, FALSE, NULL);        /* ok: wrong_result_check */
    if (once == NULL)
        return -1;
    HANDLE pipe = CreateNamedPipeA(name, 3, 0, 1, 64, 64, 0, NULL); /* ruleid: wrong_result_check */
    if (pipe == NULL)
        return -1;
    return 0;
}
