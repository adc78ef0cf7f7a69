/* Each argument is a test; "alternate" calls different functions on each run. */
#include "hard.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int constructs(void)
{
    struct fn in = { 1, 2 };
    int failed = guarded(2) != 0 || guarded(7) != 7;
    failed |= assembled(1) != 2;
    failed |= into_loop(0) != 20 || into_loop(7) != 7;
    failed |= duff(7) != 2221 || duff(8) != 2222;
    failed |= computed(4) != 10 || computed(5) != 11;
    failed |= statements(2) != 5 || statements(4) != 8;
    failed |= match(3, 4) != 4;
    return failed | (unsafe(&in, 5) != 8 || in.use != 7);
}

static int children(void)
{
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(shared(i));
        failed |= waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i * 3 % 7;
    }
    return failed;
}

static void *work(void *argument)
{
    int *number = argument;
    for (int i = 0; i < 1000; i++)
        *number = shared(*number);
    return 0;
}

static int threads(void)
{
    pthread_t all[4];
    int numbers[4] = { 1, 2, 3, 4 }, expected[4] = { 1, 2, 3, 4 };
    for (int i = 0; i < 4; i++)
        if (pthread_create(&all[i], 0, work, &numbers[i]))
            return 1;
    for (int i = 0; i < 4; i++) {
        pthread_join(all[i], 0);
        work(&expected[i]);
    }
    return memcmp(numbers, expected, sizeof numbers) != 0;
}

static int terminal(void)
{
    char text[16];
    ssize_t length = read(0, text, sizeof text);
    return isatty(0) || open("/dev/tty", O_RDWR) >= 0 || length > 0 || shared(2) != 6;
}

/* Calls one function in odd runs, and another one in even ones. */
static int alternate(void)
{
    char path[4096];
    FILE *runs;
    long count;
    snprintf(path, sizeof path, "%s/runs", getenv("HOME"));
    runs = fopen(path, "a");
    if (!runs)
        return 1;
    fputc('.', runs);
    count = ftell(runs);
    fclose(runs);
    return count % 2 ? shared(2) != 6 : unreached(2) != 2;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*run)(void); } tests[] = {
        { "constructs", constructs }, { "children", children }, { "threads", threads },
        { "terminal", terminal },     { "alternate", alternate },
    };
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        for (int j = 0; j < 5; j++)
            failed |= !strcmp(argv[i], tests[j].name) && tests[j].run();
    return failed;
}
