#include <stdio.h>
#include <stdlib.h>
int main(void) { free(malloc(9)); puts("a"); return 0; }
