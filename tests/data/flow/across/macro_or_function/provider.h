#define number_begin(one) provider.begin(one)
#define number_end(one) provider.end(one)
