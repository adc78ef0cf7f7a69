#include <string.h>
extern char *strcpy(char *dst, const char *src);   /* ok: unsafe_api */
char *strcat(char *, const char *);                /* ok: unsafe_api */
static inline char *
stpcpy(char *dst, const char *src);                /* ok: unsafe_api */

#define COPY(d, s) strcpy(d, s)                    /* ruleid: unsafe_api */
#define JOIN(d, s) do { \
        strcat(d, s);  /* ruleid: unsafe_api */ \
    } while (0)

int greet(char *dst, const char *name)
{
    char buf[64];
    strcpy(buf, name);                             /* ruleid: unsafe_api */
    strcat (buf, name);                            /* ruleid: unsafe_api */
    strcpy                                         /* ruleid: unsafe_api */
        (dst, buf);
    gets(buf);                                     /* ruleid: unsafe_api */
    sprintf(dst, "hello %s", name);                /* ruleid: unsafe_api */
    if (*name) return sprintf(dst, "%d", 3);       /* ruleid: unsafe_api */
    if (name) wcscpy(wide, name); else stpcpy(dst, name); /* ruleid: unsafe_api */
    my_strcpy(buf, name);                          /* ok: unsafe_api */
    strcpy_s(buf, sizeof buf, name);               /* ok: unsafe_api */
    list->strcpy(buf, name);                       /* ok: unsafe_api */
    ops.strcat(buf, name);                         /* ok: unsafe_api */
    snprintf(buf, sizeof buf, "strcpy(a, b)");     /* ok: unsafe_api */
    /* strcpy(buf, name); */                       /* ok: unsafe_api */
    // strcpy(buf, name); \
       strcpy(buf, name);                             ok: unsafe_api
    fn = strcpy;                                   /* ok: unsafe_api */
    gets(stream, buf, 3);                          /* ok: unsafe_api */
    return '"' + strcpy /* now */ (buf, "\"")[0];  /* ruleid: unsafe_api */
}

#if 0
    strcpy(a, b);                                  /* ok: unsafe_api */
#  if 1
    strcpy(a, b);                                  /* ok: unsafe_api */
#  else
    strcpy(a, b);                                  /* ok: unsafe_api */
#  endif
#else
void live(void) { strcpy(a, b); }                  /* ruleid: unsafe_api */
#endif
