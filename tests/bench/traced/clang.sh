# needs: clang
clang -fsanitize=address,undefined a.c -o a && ASAN_OPTIONS=detect_leaks=0 ./a
clang --analyze a.c
