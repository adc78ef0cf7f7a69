#include <string.h>
#include <stdio.h>
void open_w12(char *to, const char *from)
{
	char tmp[64];
	size_t j = 0;
	for (size_t i = 0; from[i] && i < sizeof tmp; i++) {
		if (from[i] == '&') {
			memcpy(tmp + j, "&amp;", 5); /* ruleid: flow_buffer_overflow */
			j += 5;
		} else
			tmp[j++] = from[i];
	}
	tmp[j] = 0;
	strcpy(to, tmp);
}
void limited_w12(char *to, const char *from)
{
	char tmp[64];
	size_t j = 0;
	for (size_t i = 0; from[i] && j < sizeof tmp - 6; i++) {
		if (from[i] == '&') {
			memcpy(tmp + j, "&amp;", 5);
			j += 5;
		} else
			tmp[j++] = from[i];
	}
	tmp[j] = 0;
	puts(tmp);
}
void limited_big(const char *from)
{
	char tmp[5 * 64 + 1];
	size_t j = 0;
	for (size_t i = 0; from[i] && i < 64; i++) {
		if (from[i] == '&') {
			memcpy(tmp + j, "&amp;", 5);
			j += 5;
		} else
			tmp[j++] = from[i];
	}
	tmp[j] = 0;
	puts(tmp);
}
void open_escape(const char *s)
{
	char out[128], *q = out;
	int i;
	for (i = 0; i < 127 && s[i]; i++) {
		if (s[i] == '"' || s[i] == '\\')
			*q++ = '\\'; /* ruleid: flow_buffer_overflow */
		*q++ = s[i];
	}
	*q = 0;
	puts(out);
}
void limited_escape(const char *s)
{
	char out[256], *q = out;
	int i;
	for (i = 0; i < 127 && s[i]; i++) {
		if (s[i] == '"' || s[i] == '\\')
			*q++ = '\\';
		*q++ = s[i];
	}
	*q = 0;
	puts(out);
}
void limited_escape2(const char *s)
{
	char out[128], *q = out;
	int i;
	for (i = 0; i < 127 && s[i]; i++) {
		if (q >= out + 125)
			break;
		if (s[i] == '"' || s[i] == '\\')
			*q++ = '\\';
		*q++ = s[i];
	}
	*q = 0;
	puts(out);
}
void open_hex(const unsigned char *key)
{
	static const char digits[] = "0123456789abcdef";
	char out[32];
	int k = 0;
	for (int i = 0; i < 32; i++) {
		out[k++] = digits[key[i] >> 4]; /* ruleid: flow_buffer_overflow */
		out[k++] = digits[key[i] & 15];
	}
	puts(out);
}
void limited_hex(const unsigned char *key)
{
	static const char digits[] = "0123456789abcdef";
	char out[65];
	int k = 0;
	for (int i = 0; i < 32; i++) {
		out[k++] = digits[key[i] >> 4];
		out[k++] = digits[key[i] & 15];
	}
	out[k] = 0;
	puts(out);
}
void open_crlf(const char *s)
{
	char b[80];
	unsigned n = 0, i = 0;
	while (s[i] != 0 && i < sizeof(b) - 1) {
		if (s[i] == '\n') {
			b[n++] = '\r'; /* ruleid: flow_buffer_overflow */
			b[n++] = '\n';
		} else {
			b[n++] = s[i];
		}
		i++;
	}
	b[n] = 0;
	puts(b);
}
void limited_skip(const char *s)
{
	char b[80];
	unsigned n = 0, i;
	for (i = 0; s[i] && i < sizeof(b) - 1; i++) {
		if (s[i] == '%' && s[i + 1] && s[i + 2]) {
			b[n++] = s[i + 1] * 16 + s[i + 2];
			i += 2;
		} else
			b[n++] = s[i];
	}
	b[n] = 0;
	puts(b);
}
void open_ptr_end(const char *p)
{
	char b[40];
	const char *end = p + 40;
	char *q = b;
	while (p < end && *p) {
		if (*p == ' ') { *q++ = '%'; *q++ = '2'; *q++ = '0'; p++; } /* ruleid: flow_buffer_overflow */
		else *q++ = *p++;
	}
	puts(b);
}
void limited_two(const short *in)
{
	char b[40];
	int i, k;
	for (i = 0, k = 0; i < 40; i += 2, k += 2) {
		b[k] = in[i / 2] >> 8;
		b[k + 1] = in[i / 2];
	}
	fwrite(b, 1, 40, stdout);
}


void open_strcpy(const char *in)
{
	char out[48];
	int i, o = 0;
	for (i = 0; i < 48 && in[i] != '\0'; ++i) {
		if (in[i] == '<') {
			strcpy(&out[o], "&lt;"); /* ruleid: flow_buffer_overflow */
			o += 4;
		} else {
			out[o] = in[i];
			o++;
		}
	}
	out[o] = '\0';
	puts(out);
}
void open_len(const char *in)
{
	char out[100];
	size_t j = 0, n = strlen(in);
	if (n >= sizeof out)
		return;
	for (size_t i = 0; i < n; i++) {
		if (in[i] == '\'')
			out[j++] = '\''; /* ruleid: flow_buffer_overflow */
		out[j++] = in[i];
	}
	out[j] = 0;
	puts(out);
}
void limited_len(const char *in)
{
	char out[100];
	size_t j = 0, n = strlen(in);
	if (2 * n >= sizeof out)
		return;
	for (size_t i = 0; i < n; i++) {
		if (in[i] == '\'')
			out[j++] = '\'';
		out[j++] = in[i];
	}
	out[j] = 0;
	puts(out);
}
void open_heap(const char *in)
{
	size_t n = strlen(in), j = 0;
	char *out = malloc(n + 1);
	if (!out)
		return;
	for (size_t i = 0; i < n; i++) {
		if (in[i] == '\n')
			out[j++] = '\r'; /* ruleid: flow_buffer_overflow */
		out[j++] = in[i];
	}
	out[j] = 0;
	puts(out);
	free(out);
}
void limited_heap(const char *in)
{
	size_t n = strlen(in), j = 0;
	char *out = malloc(2 * n + 1);
	if (!out)
		return;
	for (size_t i = 0; i < n; i++) {
		if (in[i] == '\n')
			out[j++] = '\r';
		out[j++] = in[i];
	}
	out[j] = 0;
	puts(out);
	free(out);
}
void open_utf8(const unsigned short *w)
{
	char out[32];
	int k = 0;
	for (int i = 0; i < 32 && w[i]; i++) {
		if (w[i] < 0x80)
			out[k++] = w[i];
		else if (w[i] < 0x800) {
			out[k++] = 0xc0 | w[i] >> 6;
			out[k++] = 0x80 | (w[i] & 63);
		} else {
			out[k++] = 0xe0 | w[i] >> 12; /* ruleid: flow_buffer_overflow */
			out[k++] = 0x80 | (w[i] >> 6 & 63);
			out[k++] = 0x80 | (w[i] & 63);
		}
	}
	puts(out);
}
void limited_utf8(const unsigned short *w)
{
	char out[97];
	int k = 0;
	for (int i = 0; i < 32 && w[i]; i++) {
		if (w[i] < 0x80)
			out[k++] = w[i];
		else if (w[i] < 0x800) {
			out[k++] = 0xc0 | w[i] >> 6;
			out[k++] = 0x80 | (w[i] & 63);
		} else {
			out[k++] = 0xe0 | w[i] >> 12;
			out[k++] = 0x80 | (w[i] >> 6 & 63);
			out[k++] = 0x80 | (w[i] & 63);
		}
	}
	out[k] = 0;
	puts(out);
}

