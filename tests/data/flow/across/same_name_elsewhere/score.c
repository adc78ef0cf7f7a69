#include <stdlib.h>

/* Too long to be followed. */
static int rate(const char *name, int *result)
{
    int score = 0;
    if (name[0] == 'a')
        score += 0;
    if (name[1] == 'b')
        score += 1;
    if (name[2] == 'c')
        score += 2;
    if (name[3] == 'd')
        score += 3;
    if (name[4] == 'e')
        score += 4;
    if (name[5] == 'f')
        score += 5;
    if (name[6] == 'g')
        score += 6;
    if (name[7] == 'h')
        score += 7;
    if (name[8] == 'i')
        score += 8;
    if (name[9] == 'j')
        score += 9;
    if (name[10] == 'k')
        score += 10;
    if (name[11] == 'l')
        score += 11;
    if (name[12] == 'm')
        score += 12;
    if (name[13] == 'n')
        score += 13;
    if (name[14] == 'o')
        score += 14;
    if (name[15] == 'p')
        score += 15;
    if (name[16] == 'q')
        score += 16;
    if (name[17] == 'r')
        score += 17;
    if (name[18] == 's')
        score += 18;
    if (name[19] == 't')
        score += 19;
    if (name[20] == 'u')
        score += 20;
    if (name[21] == 'v')
        score += 21;
    if (name[22] == 'w')
        score += 22;
    if (name[23] == 'x')
        score += 23;
    if (name[24] == 'y')
        score += 24;
    if (name[25] == 'z')
        score += 25;
    if (name[26] == '{')
        score += 26;
    if (name[27] == '|')
        score += 27;
    if (name[28] == '}')
        score += 28;
    if (name[29] == '~')
        score += 29;
    if (name[30] == '')
        score += 30;
    if (name[31] == '')
        score += 31;
    if (name[32] == '')
        score += 32;
    if (name[33] == '')
        score += 33;
    if (name[34] == '')
        score += 34;
    if (name[35] == '')
        score += 35;
    if (name[36] == '')
        score += 36;
    if (name[37] == '')
        score += 37;
    if (name[38] == '')
        score += 38;
    if (name[39] == '')
        score += 39;
    *result = score;
    return 0;
}

int name_score(const char *name, int *result)
{
    return rate(name, result);
}
