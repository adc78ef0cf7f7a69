#define YARD_EXPORT(type, name, args, attributes) extern type(name) args attributes
#define YARD_NORETURN __attribute__((__noreturn__))

YARD_NORETURN void complain(const char *text, ...) __attribute__((format(printf, 1, 2)));
YARD_EXPORT(void, stop_yard, (const char *text, int code), YARD_NORETURN);
void note(const char *text);
__attribute__((noreturn)) void leave(int code);
#define YARD_DEAD __attribute__((__noreturn__))
void give_up_yard(const char *text) YARD_DEAD;
