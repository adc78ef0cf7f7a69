/* Code that is compiled, and displayed as something else. */
void hide(char *name, char **argv, int level)
{
    // checked by the caller    copy(name, argv[1]); /* ruleid: trojan_source */
    copy(name, argv[1]);                                ; /* nothing to see */ /* ruleid: trojan_source */
    /* a comment that goes on, ruleid: trojan_source *\
/ copy(name, argv[2]);
    /* ruleid: trojan_source */ /\
* if (level > 3) */
    /* ruleid: trojan_source */ /\ 	
/ if (level > 3)
    /* ruleid: trojan_source */ cop\
y(name, argv[3]);
    if (level != "user‮ ⁦// for administrators⁩ ⁦") { /* ruleid: trojan_source */
        grant();
    }
    print("‫abc‬"); /* ruleid: trojan_source */
    return;
}
#define LOOP(n) \
    do { \
        go(n); \
    } while (0) /* ok: trojan_source */
#define NEXT(n) (n) + \
1 /* ok: trojan_source */
const char *text = "one\
two/\
/three"; /* ok: trojan_source */
/* drawn *\
 * here, ok: trojan_source
  /\
 * and here */
/* words\
words, ok: trojan_source */
int total = a * \
b; /* ok: trojan_source */
const char *greeting = "héllo — 你好"; /* ok: trojan_source */
