#include <string.h>
#include <sys/socket.h>

int receive_name(int fd, char *name)
{
    unsigned char head[2];
    char text[300];
    if (recv(fd, head, sizeof head, MSG_WAITALL) != 2)
        return -1;
    unsigned length = head[0] << 8 | head[1];
    if (recv(fd, text, length, MSG_WAITALL) != (long)length)
        return -1;
    memcpy(name, text, length);
    return (int)length;
}
