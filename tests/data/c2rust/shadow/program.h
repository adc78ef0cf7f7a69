#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct node { struct node *next; int value; char tag; };
struct pair { int *one, *two; };
struct small { int a; char b; };
struct mixed { long a; double b; };
struct large { int v[8]; };
struct padded { char c; long n; };
struct buffer { char *bytes; size_t size; };

/* A static function of a header: each unit has its own. */
static int clip(int n) { return n < 9 ? n : 9; }
int clip_both(int n);
