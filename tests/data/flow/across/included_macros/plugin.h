#define memory_alloc(pointer, type, size, message) \
    do { \
        if ((pointer = (type) api_malloc(size)) == NULL) \
            fatal(api, "%s: no memory", message); \
    } while (0)
