extern void put_away(void);

#define QUIT_BUILDER() \
    do { \
        put_away(); \
        exit(1); \
    } while (0)

#define NO_MEMORY() \
    do { \
        complain("no memory in %s", __func__); \
        QUIT_BUILDER(); \
    } while (0)

#define BROKEN(text, args...) \
    do { \
        complain("broken: " text, ## args); \
        QUIT_BUILDER(); \
    } while (0)

#define FLUSH() put_away()
