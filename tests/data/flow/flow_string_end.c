#include <string.h>
#include <stdio.h>
#include <ctype.h>
#include <stdlib.h>
int open_skip(const char *from, char *to)
{
	while (*from) {
		if (*from == '\\')
			from++; /* ruleid: flow_buffer_overread */
		*to++ = *from++;
	}
	*to = 0;
	return 0;
}
int limited_skip(const char *from, char *to)
{
	while (*from) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from++;
	}
	*to = 0;
	return 0;
}
int open_skip2(const char *s)
{
	int n = 0; char b[4]; b[n] = 0;
	for (; *s; s++) {
		if (*s == '%')
			s += 2; /* ruleid: flow_buffer_overread */
		n++;
	}
	return n;
}
int limited_skip2(const char *s)
{
	int n = 0; char b[4]; b[n] = 0;
	for (; *s; s++) {
		if (*s == '%' && s[1] && s[2])
			s += 2;
		n++;
	}
	return n;
}
int open_token(char *line)
{
	char *p, *h = strdup(line);
	for (p = h; *p && *p != ' '; p++) /* ruleid: flow_unchecked_null */
		;
	*p++ = 0; /* ruleid: flow_buffer_overread */
	while (*p == ' ')
		p++;
	puts(p);
	free(h);
	return 0;
}
int limited_token(char *line)
{
	char *p, *h = strdup(line);
	for (p = h; *p && *p != ' '; p++) /* ruleid: flow_unchecked_null */
		;
	if (*p)
		*p++ = 0;
	while (*p == ' ')
		p++;
	puts(p);
	free(h);
	return 0;
}
int open_quote(const char *p)
{
	char *h = strdup(p); int n = 0;
	while (*p) {
		if (*p == '"') {
			p++;
			while (*p != 0 && *p != '"')
				p++;
			p++; /* ruleid: flow_buffer_overread */
		} else {
			p++;
			n++;
		}
	}
	free(h);
	return n;
}
int limited_quote(const char *p)
{
	char *h = strdup(p); int n = 0; /* ruleid: flow_memory_leak */
	while (*p) {
		if (*p == '"') {
			p++;
			while (*p != 0 && *p != '"')
				p++;
			if (*p == 0)
				return -1;
			p++;
		} else {
			p++;
			n++;
		}
	}
	free(h);
	return n;
}
int open_hex(const char *s, unsigned char *out)
{
	char *h = strdup(s); int n = 0;
	while (*s) {
		out[n++] = (s[0] & 15) << 4 | (s[1] & 15);
		s += 2; /* ruleid: flow_buffer_overread */
	}
	free(h);
	return n;
}
int limited_hex(const char *s, unsigned char *out)
{
	char *h = strdup(s); int n = 0;
	while (isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1])) {
		out[n++] = (s[0] & 15) << 4 | (s[1] & 15);
		s += 2;
	}
	free(h);
	return n;
}
int limited_getc(const char *s)
{
	char *h = strdup(s); int c, n = 0;
	while ((c = *s++) != 0) {
		if (c == '\\') {
			c = *s++;
			if (c == 0)
				break;
		}
		n += c;
	}
	free(h);
	return n;
}
int open_getc(const char *s)
{
	char *h = strdup(s); int c, n = 0;
	while ((c = *s++) != 0) {
		if (c == '\\')
			c = *s++; /* ruleid: flow_buffer_overread */
		n += c;
	}
	free(h);
	return n;
}
int limited_prefix(const char *s)
{
	char *h = strdup(s);
	if (strncmp(s, "http://", 7) == 0)
		s += 7;
	else if (!strncmp(s, "ftp:", 4))
		s += 4;
	int n = *s;
	free(h);
	return n;
}
int limited_end(const char *s, const char *end)
{
	char *h = strdup(s); int n = 0;
	while (s < end) {
		if (*s == '\\')
			s++;
		n += *s++;
	}
	free(h);
	return n;
}
int open_comment(const char *s)
{
	char *h = strdup(s); int n = 0;
	while (*s) {
		if (s[0] == '/' && s[1] == '*') {
			s += 2;
			while (*s && !(s[0] == '*' && s[1] == '/'))
				s++;
			s += 2; /* ruleid: flow_buffer_overread */
			continue;
		}
		n++, s++;
	}
	free(h);
	return n;
}
int limited_switch(const char *s)
{
	char *h = strdup(s); int n = 0;
	while (*s) {
		if (*s == '\\') {
			s++;
			switch (*s) {
			case 'n': n += 10; break;
			case 't': n += 9; break;
			case 0: free(h); return n;
			default: n += *s;
			}
		}
		s++;
	}
	free(h);
	return n;
}

