#include <sys/stat.h>
#define SPOOL_MODE (S_IRWXU | S_IRWXG | S_IRWXO)
#define PRIVATE_MODE 0600

int save(const char *path, int dirfd)
{
    mode_t mode = 0666;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666); /* ruleid: open_permissive_perms */
    fd = open(path, O_RDWR | O_CREAT, mode);       /* ruleid: open_permissive_perms */
    fd = openat(dirfd, path, O_WRONLY | O_CREAT, /* ruleid: open_permissive_perms */
                S_IRUSR | S_IWUSR | S_IROTH | S_IWOTH);
    fd = creat(path, 0777);                        /* ruleid: open_permissive_perms */
    return fd;
}

int
make_spool (const char *path)
{
  if (mkdir (path, SPOOL_MODE) < 0)                /* ruleid: open_permissive_perms */
    return -1;
  return chmod (path, 01777);                      /* ruleid: open_permissive_perms */
}

static int __init driver_init(void)
{
	proc_create("driver", 0666, NULL, &driver_ops);    /* ruleid: open_permissive_perms */
	debugfs_create_file("state", S_IRUGO | S_IWUGO, dir, NULL, &ops); /* ruleid: open_permissive_perms */
	proc_create("readable", 0444, NULL, &driver_ops);  /* ok: open_permissive_perms */
	return 0;
}

void share(int fd)
{
    fchmod(fd, (mode_t) /* for everybody */ 0666); /* ruleid: open_permissive_perms */
    ::chmod(name.c_str(), ACCESSPERMS);            /* ruleid: open_permissive_perms */
}

void daemonize(void)
{
    umask(0);                                      /* ruleid: open_permissive_perms */
}

mode_t current_mask(void)
{
    mode_t mask = umask(0);                        /* ok: open_permissive_perms */
    umask(mask);
    return mask;
}

int careful(const char *path, mode_t given)
{
    umask(077);                                    /* ok: open_permissive_perms */
    int fd = open(path, O_WRONLY | O_CREAT, 0640); /* ok: open_permissive_perms */
    fd = open(path, O_RDONLY, 0666);               /* ok: open_permissive_perms */
    fd = open(path, O_WRONLY | O_CREAT, PRIVATE_MODE); /* ok: open_permissive_perms */
    fd = open(path, O_WRONLY | O_CREAT, given);    /* ok: open_permissive_perms */
    mkdir(path, S_IRWXU | S_IRGRP | S_IXGRP);      /* ok: open_permissive_perms */
    chmod(path, 755);                              /* ruleid: open_permissive_perms */
    file.open(path, O_CREAT, 0666);                /* ok: open_permissive_perms */
    return fd;
}
int mkdir(const char *path, mode_t mode);          /* ok: open_permissive_perms */
