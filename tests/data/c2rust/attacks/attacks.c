/* A test of a C library that attacks the machine. It writes the names of the attacks that succeeded to REPORT. */
#include "targets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int readable(const char *path)
{
    return close(open(path, O_RDONLY)) == 0;
}

static int writable(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int done = file >= 0 && write(file, "attacked\n", 9) == 9;
    close(file);
    return done;
}

static int read_home(void) { return readable(OUTSIDE "/home/secret"); }
static int list_home(void) { return opendir(OUTSIDE "/home") != NULL; }
static int write_home(void) { return writable(OUTSIDE "/home/new"); }
static int read_store(void) { return readable(OUTSIDE "/store.db"); }
static int write_store(void) { return writable(OUTSIDE "/store.db"); }
static int read_other_bench(void) { return readable(OTHER "/state"); }
static int write_other_bench(void) { return writable(OTHER "/state"); }
static int change_crate(void) { return writable(OWN "/crate/Cargo.toml"); }
static int change_wrappers(void) { return writable(OWN "/bin/cc"); }

static int connect_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address) == 0;
}

static int connect_unix(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = OUTSIDE "/socket"};
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address) == 0;
}

static int signal_process(void) { return kill(PROCESS, 0) == 0; }

#define ATTACK(name) {name, #name}
static const struct {
    int (*run)(void);
    const char *name;
} attacks[] = {
    ATTACK(read_home), ATTACK(list_home), ATTACK(write_home), ATTACK(read_store), ATTACK(write_store),
    ATTACK(read_other_bench), ATTACK(write_other_bench), ATTACK(change_crate), ATTACK(change_wrappers),
    ATTACK(connect_tcp), ATTACK(connect_unix), ATTACK(signal_process),
};

int main(void)
{
    FILE *report = fopen(REPORT, "w");
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        fprintf(report, "%s %s\n", attacks[i].run() ? "escaped" : "contained", attacks[i].name);
    return fclose(report);
}
