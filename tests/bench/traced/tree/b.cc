#include <thread>
#include <vector>
int main() { std::thread t([] { std::vector<int> v(9); }); t.join(); }
