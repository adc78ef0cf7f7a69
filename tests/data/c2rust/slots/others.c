#include "constructs.h"

static int same_name_inside(void) { return 20; }
int other_same_name(void) { return same_name_inside() + clamp(500); }
int overridden(void) { return 2; }
