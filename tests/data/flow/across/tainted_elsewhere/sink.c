#include <stdlib.h>
#include <string.h>
int ask_number(void);
int ask_small(void);
void ask_line(char *to, int room);
void run_it(const char *command);

void *sized(void)
{
    return malloc(ask_number()); /* ruleid: flow_tainted_size */
}

int divided(int total)
{
    return total / ask_number(); /* ruleid: flow_divide_by_zero */
}

void commanded(void)
{
    char line[80];
    ask_line(line, sizeof line);
    system(line); /* ruleid: flow_command_injection */
}

void commanded_elsewhere(void)
{
    char line[80];
    ask_line(line, sizeof line);
    run_it(line); /* ruleid: flow_command_injection */
}

int divided_by_small(int total)
{
    return total / ask_small(); /* ok: flow_divide_by_zero */
}

void *sized_small(void)
{
    return malloc(ask_small()); /* ok: flow_tainted_size */
}

void fixed_elsewhere(void)
{
    run_it("sync"); /* ok: flow_command_injection */
}
