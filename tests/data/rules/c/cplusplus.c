// C++ habits: raw strings, digit separators, qualified names, methods
#include <cstdlib>
class Shell {
public:
    int system(const char *command);                       // ok: command_execution
    static int run(const std::string &c) {
        auto text = R"x(system(c) )" still text)x";        // ok: command_execution
        auto many = 1'000'000; std::system(c.c_str());     // ruleid: command_execution
        ::system(c.c_str());                               // ruleid: command_execution
        Shell::system(c.c_str());                          // ok: command_execution
        this->system(c.c_str());                           // ok: command_execution
        shell.system(c.c_str());                           // ok: command_execution
        char quote = '"'; std::strcpy(to, c.c_str());      // ruleid: unsafe_api
        char letter = u8'"'; int n = std::atoi(c.c_str()); // ruleid: atoi_family
        return case_of('a') ? 0x1'ff : std::printf(c.c_str()); // ruleid: format_string
    }
};
int Shell::system(const char *command) { return 0; }       // ok: command_execution
