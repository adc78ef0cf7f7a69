#include "program.h"

int clip_next(int n) { return clip(n + 1); }
int clip_both(int n) { return clip(n) + clip_next(n); }
