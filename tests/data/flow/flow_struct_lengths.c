#include <string.h>
#include <stdint.h>
#include <stdlib.h>
struct blob { unsigned char *data; size_t len; };
int open_cmp(const struct blob *a, const struct blob *b)
{
	return memcmp(a->data, b->data, a->len) == 0; /* ruleid: flow_buffer_overread */
}
int limited_cmp(const struct blob *a, const struct blob *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}
int limited_cmp2(const struct blob *a, const struct blob *b)
{
	if (a->len != b->len) return 0;
	return memcmp(a->data, b->data, a->len) == 0;
}
int limited_cmp3(const struct blob *a, const struct blob *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	return memcmp(a->data, b->data, n) == 0;
}
int open_cmp4(struct blob a, struct blob b)
{
	if (memcmp(a.data, b.data, a.len) != 0) return 0; /* ruleid: flow_buffer_overread */
	return 1;
}
static char *screens[8];
char *open_screen(const unsigned char *msg)
{
	unsigned param = msg[2];
	return screens[param]; /* ruleid: flow_buffer_overread */
}
char *limited_screen(const unsigned char *msg)
{
	unsigned param = msg[2];
	if (param >= 8) return 0;
	return screens[param];
}
