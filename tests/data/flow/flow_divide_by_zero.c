#include <stdio.h>
#include <stdlib.h>

struct stats { int sum; int count; };

int share(int total)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    int people = atoi(text);
    return total / people; /* ruleid: flow_divide_by_zero */
}

int average(const int *v, int n)
{
    int sum = 0, count = 0;
    for (int i = 0; i < n; i++) {
        sum += v[i];
    }
    return sum / count; /* ruleid: flow_divide_by_zero */
}

int
zero_on_a_path (int have, int total)
{
  int by = 0;

  if (have)
    by = 4;
  return total / by; /* ruleid: flow_divide_by_zero */
}

int rest_of(int total)
{
    int by;
    if (scanf("%d", &by) != 1)
        return 0;
    if (by >= 0)
        return total % by; /* ruleid: flow_divide_by_zero */
    return 0;
}

static int ratio(int a, int b)
{
    return a / b; /* ruleid: flow_divide_by_zero */
}

int ratio_of_nothing(int a)
{
    return ratio(a, 0);
}

int said_but_not_left(int total, int by)
{
    if (by == 0)
        fprintf(stderr, "nothing to divide by\n");
    return total / by; /* ruleid: flow_divide_by_zero */
}

int compound(struct stats *s)
{
    s->count = 0;
    s->sum /= s->count; /* ruleid: flow_divide_by_zero */
    return s->sum;
}

/* near misses */

int share_tested(int total)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    int people = atoi(text);
    if (people == 0)
        return 0;
    return total / people; /* ok: flow_divide_by_zero */
}

int average_of_some(const int *v, int n)
{
    int sum = 0, count = 0;
    for (int i = 0; i < n; i++) {
        if (v[i] > 0) {
            sum += v[i];
            count++;
        }
    }
    return count ? sum / count : 0; /* ok: flow_divide_by_zero */
}

int set_on_both(int have, int total)
{
    int by = 0;
    if (have)
        by = 4;
    else
        by = 2;
    return total / by; /* ok: flow_divide_by_zero */
}

int callers_business(int total, int by)
{
    return total / by; /* ok: flow_divide_by_zero */
}

double in_floating_point(double x)
{
    double zero = 0.0;
    return x / zero; /* ok: flow_divide_by_zero */
}

int positive_only(int total)
{
    int by;
    if (scanf("%d", &by) != 1 || by <= 0)
        return 0;
    return total / by; /* ok: flow_divide_by_zero */
}

int moved_away_from_zero(int total)
{
    int by;
    if (scanf("%d", &by) != 1)
        return 0;
    by = (by & 7) + 1;
    return total % by; /* ok: flow_divide_by_zero */
}

int default_instead(int total)
{
    int by = 0;
    if (scanf("%d", &by) != 1)
        by = 0;
    if (!by)
        by = 1;
    return total / by; /* ok: flow_divide_by_zero */
}

int is_negative_zero(double value)
{
    char text[20] = "";
    int n = 0;
    if (value == 0)
        n = 1.0 / value < 0; /* ok: flow_divide_by_zero */
    text[n & 1] = '0';
    return text[0];
}

int share_of_none(int count)
{
    char text[20] = "";
    int n = 0;
    if (count == 0)
        n = 100 / count; /* ruleid: flow_divide_by_zero */
    text[n & 1] = '0';
    return text[0];
}
