#include <string.h>

void pairs(char *line)
{
    char *pair;
    for (pair = strtok(line, ";"); pair; pair = strtok(NULL, ";")) { /* ruleid: strtok_nonreentrant */
        char *name = strtok(pair, "=");            /* ruleid: strtok_nonreentrant */
        char *value = strtok(NULL, "=");           /* ok: strtok_nonreentrant */
        define(name, value);
    }
}

char *
first_word (char *text)
{
  return strtok (text, " \t");                     /* ruleid: strtok_nonreentrant */
}

int count(char *list)
{
    int n = 0;
    char *at = list;
    while (strtok(at, ",") != NULL) {              /* ruleid: strtok_nonreentrant */
        at = NULL;
        n++;
    }
    return n;
}

class Reader {
    void read(std::string &line) {
        char *word = std::strtok(line.data(), " "); /* ruleid: strtok_nonreentrant */
        words.push_back(word);
    }
    char *strtok(char *text, const char *separators); /* ok: strtok_nonreentrant */
};

void safe(char *line)
{
    char *at;
    for (char *word = strtok_r(line, " ", &at); word; word = strtok_r(NULL, " ", &at)) /* ok: strtok_nonreentrant */
        use(word);
}

char *next_part(char *text, char **at)
{
#ifdef HAVE_STRTOK_R
    return strtok_r(text, ",", at);
#else
    return strtok(text, ",");                      /* ok: strtok_nonreentrant */
#endif
}

void others(struct parser *parser, char *line)
{
    parser->strtok(line, ",");                     /* ok: strtok_nonreentrant */
    my_strtok(line, ",");                          /* ok: strtok_nonreentrant */
    line = strsep(&line, ",");                     /* ok: strtok_nonreentrant */
}
