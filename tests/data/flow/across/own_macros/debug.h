#define TRACE(...)                                   \
    do {                                             \
        FILE *trace = fopen("/tmp/trace.txt", "a");  \
        fprintf(trace, __VA_ARGS__);                 \
        fclose(trace);                               \
    } while (0)
