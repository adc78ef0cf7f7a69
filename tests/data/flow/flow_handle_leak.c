#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct station { int fd; FILE *log; };

int first_byte(const char *name)
{
    FILE *f = fopen(name, "rb"); /* ruleid: flow_handle_leak */
    if (!f)
        return -1;
    int c = fgetc(f);
    if (c == EOF)
        return -2;
    fclose(f);
    return c;
}

int read_magic(const char *path, unsigned char *magic)
{
    int fd = open(path, O_RDONLY); /* ruleid: flow_handle_leak */
    if (fd < 0)
        return -1;
    if (read(fd, magic, 4) != 4)
        return -1;
    close(fd);
    return 0;
}

long
file_length (const char *name)
{
  FILE *stream = fopen (name, "r"); /* ruleid: flow_handle_leak */

  if (stream == NULL)
    return -1;
  fseek (stream, 0, SEEK_END);
  return ftell (stream);
}

int copy_first(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"); /* ruleid: flow_handle_leak */
    FILE *out;
    if (!in)
        return -1;
    out = fopen(to, "w");
    if (!out)
        goto fail;
    fputc(fgetc(in), out);
    fclose(out);
    fclose(in);
    return 0;
fail:
    return -1;
}

int shell_says(void)
{
    FILE *p = popen("uptime", "r"); /* ruleid: flow_handle_leak */
    char line[80];
    if (!p)
        return 0;
    if (fgets(line, sizeof line, p) == NULL)
        return 0;
    pclose(p);
    return 1;
}

static FILE *open_log(const char *name)
{
    FILE *f = fopen(name, "a"); /* ok: flow_handle_leak */
    return f;
}

int log_once(const char *name, int level)
{
    FILE *f = open_log(name); /* ruleid: flow_handle_leak */
    if (!f)
        return -1;
    switch (level) {
    case 0:
        return 0;
    default:
        fputs("event\n", f);
    }
    fclose(f);
    return 1;
}

/* near misses */

int first_byte_closed(const char *name)
{
    int c = -1;
    FILE *f = fopen(name, "rb"); /* ok: flow_handle_leak */
    if (f) {
        c = fgetc(f);
        fclose(f);
    }
    return c;
}

int read_magic_closed(const char *path, unsigned char *magic)
{
    int ret = 0;
    int fd = open(path, O_RDONLY); /* ok: flow_handle_leak */
    if (fd == -1)
        return -1;
    if (read(fd, magic, 4) != 4)
        ret = -1;
    close(fd);
    return ret;
}

int kept_by_station(struct station *s, const char *path)
{
    s->fd = open(path, O_RDWR); /* ok: flow_handle_leak */
    if (s->fd < 0)
        return -1;
    s->log = fopen("station.log", "a"); /* ok: flow_handle_leak */
    return s->log ? 0 : -1;
}

FILE *handed_on(const char *name)
{
    FILE *f = fopen(name, "r"); /* ok: flow_handle_leak */
    if (!f)
        return NULL;
    setvbuf(f, NULL, _IONBF, 0);
    return f;
}

FILE *wrapped(const char *name)
{
    int fd = open(name, O_RDONLY); /* ok: flow_handle_leak */
    FILE *f;
    if (fd < 0)
        return NULL;
    f = fdopen(fd, "r");
    if (!f)
        close(fd);
    return f;
}

int cleaned_by_goto(const char *a, const char *b)
{
    int err = -1;
    FILE *in = NULL, *out = NULL;
    in = fopen(a, "r"); /* ok: flow_handle_leak */
    if (!in)
        goto end;
    out = fopen(b, "w"); /* ok: flow_handle_leak */
    if (!out)
        goto end;
    err = 0;
end:
    if (out)
        fclose(out);
    if (in)
        fclose(in);
    return err;
}

static void shut(FILE *f)
{
    if (f != NULL)
        fclose(f);
}

int closed_by_helper(const char *name)
{
    FILE *f = fopen(name, "r"); /* ok: flow_handle_leak */
    int c = f ? getc(f) : 0;
    shut(f);
    return c;
}

FILE *wrapped_and_left(const char *name)
{
    int fd = open(name, O_RDONLY); /* ruleid: flow_handle_leak */
    if (fd < 0)
        return NULL;
    return fd > 9 ? fdopen(fd, "r") : NULL;
}

int not_wrapped(const char *name)
{
    int fd = open(name, O_RDONLY); /* ruleid: flow_handle_leak */
    FILE *f;
    int c = -1;
    if (fd < 0)
        return -1;
    f = fdopen(fd, "r");
    if (!f)
        return -1;
    c = fgetc(f);
    fclose(f);
    return c;
}

int without_a_terminal(void)
{
    if (!freopen("/dev/null", "r", stdin)) /* ok: flow_handle_leak */
        return -1;
    return freopen("/dev/null", "w", stdout) ? 0 : -1; /* ok: flow_handle_leak */
}
