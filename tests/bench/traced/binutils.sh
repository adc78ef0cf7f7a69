# needs: gcc nm objdump readelf strip
gcc -g a.c -o a
nm a
objdump -d a
readelf -a a
strip a
ldd a
size a
