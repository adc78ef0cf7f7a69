/* The user's umask restricts these; this file does not clear it. */
#include <sys/stat.h>

int save(const char *path)
{
    if (mkdir(path, 0777) != 0)                    /* ok: open_permissive_perms */
        return -1;
    if (creat(path, 0777) < 0)                     /* ok: open_permissive_perms */
        return -1;
    if (fchmod(shared, 0666) != 0)                 /* ruleid: open_permissive_perms */
        return -1;
    return open(path, O_WRONLY | O_CREAT, 0666);   /* ok: open_permissive_perms */
}
