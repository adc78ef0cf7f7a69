#include <stdlib.h>

#define memory_alloc(var, ty, x, who) (void) (var = (ty) memory_alloc_real((size_t)(x), who, #var, __FILE__, __LINE__))

static inline void *memory_alloc_real(size_t count, const char *who, const char *var, const char *file, int line)
{
    void *p = malloc(count);
    if (p == NULL)
        fatal("%s:%d: %s: no memory for %s", file, line, who, var);
    return p;
}
