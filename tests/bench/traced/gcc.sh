# needs: gcc g++ ar gcov
gcc --coverage a.c -o a && ./a
g++ -flto -pthread b.cc -o b && ./b
gcc -c a.c
ar rcs l.a a.o
gcov a.c
