#define YARD_DEAD __attribute__((__noreturn__))
#define YARD_NORETURN_POINTER __attribute__((noreturn))

typedef void (*give_up_t)(const char *text) YARD_DEAD;
typedef void (*note_t)(const char *text);

extern void (*on_ruin)(const char *text) YARD_DEAD;
extern void (*on_rain)(const char *text);

struct yard {
    int (*count)(struct yard *, void (*each)(int));
    void YARD_NORETURN_POINTER (*fail)(struct yard *, const char *text, ...);
    void (*warn)(struct yard *, const char *text, ...);
    void (*stop)(struct yard *, void (*before)(int)) YARD_DEAD;
    give_up_t give_up;
    note_t note;
};
