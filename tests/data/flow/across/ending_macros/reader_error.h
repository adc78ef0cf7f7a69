extern void (*set_place(const char *file, int line))(void);
extern void r_stop(const char *text, ...);

#define stop_all (*(set_place(__FILE__, __LINE__), r_stop))

#define NO_MEMORY() \
    do { \
        complain("no memory"); \
        exit(2); \
    } while (0)

#define BROKEN(text, args...) (complain(text, ## args), exit(3))

#define FLUSH() abort()
