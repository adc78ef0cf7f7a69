#include <stdio.h>
#include <syslog.h>

void report(FILE *in)
{
    char message[200];
    while (fgets(message, sizeof message, in))
        syslog(LOG_INFO, message);
}
