# needs: make cc
make -j4
