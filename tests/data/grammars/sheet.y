%{
#include <stdlib.h>
#include <string.h>

static char title[16];
/* strcpy(title, comment); */
%}

%union {
    long number;
    char *text;
}
%code {
static void reset(char *to) {
    strcpy(to, getenv("SHEET"));   /* ruleid: unsafe_api, ruleid: flow_unchecked_null */
}
}
%token <text> STRING "a string: strcpy(a, b)"
%token <number> NUMBER '{'
%type <number> time
%destructor { free($$); } <text>
%%

sheet:   /* empty */
    | sheet line { strcpy(title, $2); } ';' { reset(title); }  // ruleid: unsafe_api
    ;

line: "strcpy(" STRING '{' '\n' {
        char name[8];
        if ($2) {
            strcpy(name, $<text>2);    /* ruleid: unsafe_api */
        }
    }
    | STRING NUMBER time
      { char *copy = malloc($2);
        copy[0] = 0;               /* ruleid: flow_unchecked_null */
        free(copy); }
    ;

time: NUMBER ':' NUMBER { $$ = $1 * 60 + $3; }
    | NUMBER
    ;
%%

int parse(const char *text)
{
    char *kept = malloc(64);
    strcpy(kept, text);            /* ruleid: unsafe_api, ruleid: flow_unchecked_null */
    return yyparse();
}
