#include <string.h>
#include <stdlib.h>
#include <stdio.h>
int limited_back(char *t)
{
	char *s;
	for (s = t; *s; s++) if (*s == ':') break;
	while (*s != '/' && s > t) s--;
	return *s;
}
int limited_trim(char *b)
{
	char line[100];
	if (!fgets(line, sizeof line, stdin)) return 0;
	char *e = line + strlen(line);
	while (e > line && e[-1] == '\n') *--e = 0;
	return line[0];
}
int open_trim(char *b)
{
	char line[100];
	if (!fgets(line, sizeof line, stdin)) return 0;
	char *e = line + strlen(line);
	while (e >= line && e[-1] == '\n') *--e = 0; /* ruleid: flow_buffer_underread, flow_buffer_underwrite */
	return line[0];
}
int limited_down(const char *p)
{
	char buf[32];
	strncpy(buf, p, 31); buf[31] = 0;
	char *q = buf + 31;
	while (q > buf && *q != '.') q--;
	return *q;
}
int open_down(const char *p)
{
	char buf[32];
	strncpy(buf, p, 31); buf[31] = 0;
	char *q = buf;
	q--;
	return *q; /* ruleid: flow_buffer_underread */
}
typedef unsigned char cmap_t[256][3];
int limited_grid(FILE *f)
{
	cmap_t m;
	unsigned char i;
	if (fread(m, 3, 256, f) != 256) return 0;
	if (fread(&i, 1, 1, f) != 1) return 0;
	return m[i][0] + m[i][1] + m[i][2];
}
int limited_dec(int n)
{
	int a[10] = {0};
	int i = 9;
	while (i >= 0 && a[i] == 0) i--;
	if (i < 0) return 0;
	return a[i];
}

{
	char t[100], *s;
	if (!fgets(t, sizeof t, f)) return 0;
	for (s = t; *s; s++) if (*s == ':') break;
	while (*s != '/' && s > t) s--;
	return *s;
}
int limited_back3(const char *name)
{
	char t[100], *s;
	strncpy(t, name, 99); t[99] = 0;
	s = t + strlen(t);
	while (s > t && s[-1] == ' ') s--;
	*s = 0;
	return t[0];
}
int limited_back4(const char *name)
{
	int passes[8], *dpp = passes + 8, sum = 0;
	memset(passes, 0, sizeof passes);
	while (--dpp >= passes) sum += *dpp;
	return sum;
}
int limited_back5(const char *name)
{
	char buf[24], *p = buf + sizeof buf;
	unsigned n = strlen(name);
	*--p = 0;
	do { *--p = '0' + n % 10; n /= 10; } while (n && p > buf);
	puts(p);
	return 0;
}
int open_back6(FILE *f)
{
	char t[100], *s;
	if (!fgets(t, sizeof t, f)) return 0;
	s = strchr(t, ':');
	if (!s) return 0;
	while (*s != '/' && s >= t) s--; /* ruleid: flow_buffer_underread */
	return *s; /* ruleid: flow_buffer_underread */
}
int open_back7(FILE *f)
{
	char t[100], *s;
	if (!fgets(t, sizeof t, f)) return 0;
	s = t + strlen(t) - 1;
	while (*s == '\n' || *s == ' ') s--;
	s[1] = 0;
	return t[0];
}
int open_index8(FILE *f)
{
	char t[100];
	if (!fgets(t, sizeof t, f)) return 0;
	int n = strlen(t);
	while (n >= 0 && t[n - 1] == ' ') n--; /* ruleid: flow_buffer_underread */
	return n;
}
int limited_index9(FILE *f)
{
	char t[100];
	if (!fgets(t, sizeof t, f)) return 0;
	int n = strlen(t);
	while (n > 0 && t[n - 1] == ' ') t[--n] = 0;
	return n;
}
int limited_rfind(const char *path)
{
	char t[64]; const char *e;
	snprintf(t, sizeof t, "%s", path);
	e = strrchr(t, '/');
	if (e == NULL || e == t) return 0;
	return e[-1];
}
int open_rfind(const char *path)
{
	char t[64]; const char *e;
	snprintf(t, sizeof t, "%s", path);
	e = strchr(t, '/');
	if (e == NULL) return 0;
	return e[-1]; /* ruleid: flow_buffer_underread */
}

