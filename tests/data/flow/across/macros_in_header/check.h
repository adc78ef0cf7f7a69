#define CHECK(condition)                          \
    do {                                          \
        if (!(condition)) {                       \
            fprintf(stderr, "%s fails\n", #condition); \
            abort();                              \
        }                                         \
    } while (0)
#define COMPARE(a, operator, b, type, letter)                               \
    do {                                                                    \
        type const left = (a);                                              \
        type const right = (b);                                             \
        if (!(left operator right)) {                                       \
            fprintf(stderr, "not %" letter #operator "%" letter "\n", left, right); \
            abort();                                                        \
        }                                                                   \
    } while (0)
#define SAME_NO_NULL(a) COMPARE(a, !=, NULL, const void *, "p")
#define NOTE(condition)                           \
    do {                                          \
        if (!(condition))                         \
            fprintf(stderr, "%s fails\n", #condition); \
    } while (0)
#define EMPTY(p) ((p) == NULL)
#define OR_LEAVE(p) ((p) ? (void)0 : exit(1))
#define DROP(p)         \
    do {                \
        free(p);        \
        (p) = NULL;     \
    } while (0)
#define ALL(first, one, after) for ((one) = (first), (after) = NULL; (one) && ((after) = (one)->next, 1); (one) = (after))
#define DROP_IF_ANY(p) if (p) put_away(p)
