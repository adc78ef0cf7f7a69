# needs: clang
clang -fsanitize=fuzzer fuzz.c -o f && ./f -runs=1000 -max_len=1
true
