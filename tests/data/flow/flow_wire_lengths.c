#include <string.h>
#include <stdint.h>
struct sess { int mac_len; unsigned char mac[16]; unsigned char name[32]; unsigned nlen; };
#define LEN(o) ((o)[2] << 8 | (o)[3])
void open_minus(const unsigned char *o)
{
	unsigned char mac16[16];
	unsigned n = (o[2] << 8 | o[3]) - 2;
	memcpy(mac16, o + 6, n); /* ruleid: flow_tainted_length */
}
void open_field(struct sess *s, const unsigned char *o)
{
	s->mac_len = LEN(o) - 2;
	memcpy(&s->mac[0], o + 6, s->mac_len); /* ruleid: flow_buffer_overflow, flow_tainted_length */
}
void open_field2(struct sess *s, const unsigned char *o)
{
	s->mac_len = LEN(o) - 2;
	memcpy(s->mac, o + 6, s->mac_len); /* ruleid: flow_buffer_overflow, flow_tainted_length */
}
int limited_field(struct sess *s, const unsigned char *o)
{
	s->mac_len = LEN(o) - 2;
	if (s->mac_len < 0 || s->mac_len > 16)
		return -1;
	memcpy(s->mac, o + 6, s->mac_len);
	return 0;
}
int limited_same(struct sess *s, const unsigned char *o)
{
	if (LEN(o) < 2 || LEN(o) - 2 > 16) return 0;
	s->mac_len = LEN(o) - 2;
	memcpy(s->mac, o + 6, s->mac_len);
	return 1;
}
void open_mask(const unsigned char *o)
{
	char b[64];
	unsigned n = ((o[0] << 8 | o[1]) & 0x7fff) >> 1;
	memcpy(b, o + 2, n); /* ruleid: flow_buffer_overflow */
}
void limited_mask(const unsigned char *o)
{
	char b[64];
	unsigned n = (o[0] << 8 | o[1]) & 0x3f;
	memcpy(b, o + 2, n);
}
void open_byte(struct sess *s, const unsigned char *p)
{
	s->nlen = p[1] - 1;
	memcpy(s->name, p + 2, s->nlen); /* ruleid: flow_tainted_length */
}
void open_words(const unsigned char *o)
{
	char b[64];
	unsigned n = o[1] * 4 - 20;
	memcpy(b, o + 20, n); /* ruleid: flow_tainted_length */
}
int limited_words(const unsigned char *o)
{
	char b[64];
	unsigned n = o[1] * 4;
	if (n < 20 || n > 60) return -1;
	memcpy(b, o + 20, n - 20);
	return 0;
}
int get_be32(const unsigned char *p);
uint32_t ntohu32(const void *p);
uint16_t rd16(const unsigned char *p);
int open_reader(char *q, const unsigned char *data)
{
	char p[100];
	uint32_t n = ntohu32(data + 9);
	memcpy(p, data + 13, n); /* ruleid: flow_tainted_length */
	return p[0];
}
int open_reader2(const unsigned char *data)
{
	char p[100];
	uint32_t n = get_be32(data + 9);
	memcpy(p, data + 13, n); /* ruleid: flow_tainted_length */
	return p[0];
}
int open_reader_minus(const unsigned char *data)
{
	char p[100];
	uint32_t n = get_be32(data + 9) - 4;
	memcpy(p, data + 13, n); /* ruleid: flow_tainted_length */
	return p[0];
}
int limited_reader(const unsigned char *data)
{
	char p[100];
	uint32_t n = get_be32(data + 9);
	if (n > sizeof p) return -1;
	memcpy(p, data + 13, n);
	return p[0];
}
uint8_t opt_len(const unsigned char *o);
int limited_pure(struct sess *s, const unsigned char *o)
{
	if (opt_len(o) < 2 || opt_len(o) - 2 > 16) return 0;
	unsigned n = opt_len(o) - 2;
	memcpy(s->mac, o + 2, n);
	return 1;
}
int limited_pure2(struct sess *s, const unsigned char *o)
{
	if (ntohu32(o) > 16) return 0;
	memcpy(s->mac, o + 4, ntohu32(o));
	return 1;
}
int open_pure(struct sess *s, const unsigned char *o, const unsigned char *q)
{
	if (ntohu32(o) > 16) return 0;
	memcpy(s->mac, o + 4, ntohu32(q)); /* ruleid: flow_tainted_length */
	return 1;
}

