# needs: cmake ctest make
cmake -B build . && cmake --build build -j2 && ctest --test-dir build -j2
