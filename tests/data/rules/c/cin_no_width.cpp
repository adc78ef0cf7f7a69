#include <iostream>
using namespace std;

void greet()
{
    char name[16];
    cin >> name;                                   // ruleid: cin_no_width
    std::cin >> name;                              // ruleid: cin_no_width
    cin.width(sizeof name);
    cin >> name;                                   // ok: cin_no_width
    cin >> name;                                   // ruleid: cin_no_width
    cin >> setw(16) >> name;                       // ok: cin_no_width
    cin >> std::setw(16) >> name >> name;          // ruleid: cin_no_width
}

void words(int argc)
{
    wchar_t wide[8];
    char *buffer = new char[80];
    char letter, table[4][8];
    std::string text;
    int number;

    if (std::wcin >> wide)                         // ruleid: cin_no_width
        argc--;
    cin >> number >> buffer;                       // ruleid: cin_no_width
    cin >> number;                                 // ok: cin_no_width
    cin >> text;                                   // ok: cin_no_width
    cin >> letter;                                 // ok: cin_no_width
    cin.getline(buffer, 80);                       // ok: cin_no_width
    cin >> std::ws;                                // ok: cin_no_width
    number = mask.cin >> 2;                        // ok: cin_no_width
}
