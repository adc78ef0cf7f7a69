#include <arpa/inet.h>

void show(struct in_addr from, struct in_addr to)
{
    printf("%s -> %s\n", inet_ntoa(from), inet_ntoa(to)); /* ruleid: inet_legacy */
    log_peer(inet_ntoa(                            /* ruleid: inet_legacy */
        from));
}

int
resolve (const char *name, struct in_addr *into)
{
  struct hostent *host = gethostbyname (name);     /* ruleid: inet_legacy */
  memcpy (into, host->h_addr, sizeof *into);
  into->s_addr = inet_addr (name);                 /* ruleid: inet_legacy */
  host = gethostbyaddr ((const char *) into, sizeof *into, AF_INET); /* ruleid: inet_legacy */
  return host == NULL;
}

uint32_t Address::parse(const std::string &text)
{
    return ntohl(::inet_addr(text.c_str()));       /* ruleid: inet_legacy */
}

int lwip_connect(uint8_t which, struct sockaddr_in *to)
{
    struct hostent *host;
    if ((host = gethostbyname(servers[which])) == NULL) /* ruleid: inet_legacy */
        return -1;
    to->sin_addr.s_addr = inet_addr("127.0.0.1");  /* ok: inet_legacy */
    return 0;
}

#define gethostbyname(name) gethostbyname((char *)(name)) /* ok: inet_legacy */
char *inet_ntoa(struct in_addr address);           /* ok: inet_legacy */

int modern(const char *name, struct addrinfo **found, struct in_addr address)
{
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address, text, sizeof text); /* ok: inet_legacy */
    inet_pton(AF_INET, name, &address);            /* ok: inet_legacy */
    if (!found)
        puts(inet_ntoa(address));                  /* ok: inet_legacy */
    return getaddrinfo(name, NULL, NULL, found);   /* ok: inet_legacy */
}

void others(Resolver *resolver, const char *name)
{
    resolver->gethostbyname(name);                 /* ok: inet_legacy */
    dns_gethostbyname(name);                       /* ok: inet_legacy */
}
