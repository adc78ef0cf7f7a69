#include "constructs.h"
#include <inttypes.h>
#include <stdio.h>

static void run(const check *checks)
{
    for (; checks->name; checks++)
        printf("%-12s %016" PRIx64 "\n", checks->name, checks->run());
}

int main(void)
{
    run(expression_checks);
    run(statement_checks);
    run(type_checks);
    printf("%" PRIu64 " values\n", mixed_values);
    return 0;
}
