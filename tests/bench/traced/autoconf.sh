# needs: autoconf cc
autoconf && ./configure
