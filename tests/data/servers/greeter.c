/* A server with defects: an overflow for each protocol, and a loop without an end over TCP.
 *
 *     greeter MODE [PORT|HOST]
 *
 * tcp: one connection after another, up to a hundred of them; fork: a process for each; inetd: the connection is
 * descriptor 0;
 * udp: datagrams; udp-inetd: the bound socket is descriptor 0; mute: listens and never answers;
 * idle: never listens; detach: goes to the background; outward: connects to HOST first, then as tcp.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A client that no longer listens is none of its worries. */
static void reply(int peer, const char *text)
{
    if (write(peer, text, strlen(text)) < 0)
        return;
}

static void greet(int peer, const char *name)
{
    char text[64];
    sprintf(text, "hello %s\r\n", name);
    reply(peer, text);
}

static void repeat(int peer, const char *text)
{
    for (unsigned at = 0; text[at] == 'x'; at = (at + 1) % 4)
        ;
    reply(peer, "200 done\r\n");
}

static void serve(int peer)
{
    char line[512];
    long count;
    reply(peer, "220 ready\r\n");
    while ((count = read(peer, line, sizeof line - 1)) > 0) {
        line[count] = 0;
        line[strcspn(line, "\r\n")] = 0;
        if (!strncmp(line, "HELO ", 5))
            greet(peer, line + 5);
        else if (!strncmp(line, "LOOP ", 5))
            repeat(peer, line + 5);
        else
            reply(peer, "500 unknown\r\n");
    }
}

static void answer(int place)
{
    static unsigned char packet[512];
    unsigned char label[16];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    long count = recvfrom(place, packet, sizeof packet, 0, (struct sockaddr *)&from, &size);
    if (count < 1 || packet[0] >= count)
        return;
    memcpy(label, packet + 1, packet[0]);
    sendto(place, label, 1, 0, (struct sockaddr *)&from, size);
}

static int open_port(int kind, int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    int place = socket(AF_INET, kind, 0);
    if (place < 0 || bind(place, (struct sockaddr *)&here, sizeof here) || (kind == SOCK_STREAM && listen(place, 5))) {
        perror("listen");
        exit(1);
    }
    return place;
}

static void look_outside(const char *host)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(80)};
    int place = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, host, &there.sin_addr);
    if (connect(place, (struct sockaddr *)&there, sizeof there))
        perror("connect outwards");
    close(place);
}

static void count(int port)
{
    static unsigned short ports[100];
    static unsigned accepted;
    ports[accepted++] = port;
}

static void accept_all(int place, int forks)
{
    for (;;) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        char directory[256];
        int peer = accept(place, (struct sockaddr *)&from, &size);
        if (peer < 0 || !getcwd(directory, sizeof directory))
            exit(1);
        fprintf(stderr, "a client from port %d, served in %s\n", ntohs(from.sin_port), directory);
        count(ntohs(from.sin_port));
        if (!forks || !fork()) {
            serve(peer);
            if (forks)
                exit(0);
        }
        close(peer);
        if (forks)
            wait(NULL);
    }
}

int main(int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "", *where = count > 2 ? words[2] : "2121";
    if (!strcmp(mode, "inetd")) {
        serve(0);
        return 0;
    }
    if (!strcmp(mode, "udp-inetd")) {
        answer(0);
        return 0;
    }
    if (!strcmp(mode, "idle"))
        for (;;)
            pause();
    if (!strcmp(mode, "detach") && daemon(1, 1))
        return 1;
    if (!strcmp(mode, "outward")) {
        look_outside(where);
        where = "2121";
    }
    if (!strcmp(mode, "mute")) {
        open_port(SOCK_STREAM, atoi(where));
        for (;;)
            pause();
    }
    if (!strcmp(mode, "udp"))
        for (int place = open_port(SOCK_DGRAM, atoi(where));;)
            answer(place);
    accept_all(open_port(SOCK_STREAM, atoi(where)), !strcmp(mode, "fork"));
    return 0;
}
