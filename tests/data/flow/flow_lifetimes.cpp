// Lifetimes in C++: what refers to a container, a string, a smart pointer or a local variable, and what moves.
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tides {

struct Buoy { int id = 0; std::string name; };
struct Shape { ~Shape(); virtual double area() const; };
struct Disc : Shape { double area() const override; };
struct Tide { virtual ~Tide() = default; };
struct Ebb : Tide { int depth; };
struct Plain { int n; };
struct Derived : Plain { std::string s; };

std::string label(int n) { return "b" + std::to_string(n); }

// moved

int moved_pointer(std::vector<std::unique_ptr<Buoy>> &v, std::unique_ptr<Buoy> b)
{
    v.push_back(std::move(b));
    return b->id; // ruleid: flow_use_after_free
}

std::size_t moved_text(std::vector<std::string> &v, std::string s)
{
    v.emplace_back(std::move(s));
    return s.size(); // ruleid: flow_use_after_free
}

std::string moved_member(Buoy b)
{
    std::string taken = std::move(b.name);
    return taken + b.name; // ruleid: flow_use_after_free
}

void moved_in_loop(std::vector<std::string> &v, std::string s)
{
    for (int i = 0; i < 3; ++i)
        v.push_back(std::move(s)); // ruleid: flow_use_after_free
}

void moved_and_printed(std::vector<std::string> &v)
{
    std::string s = label(1);
    v.push_back(std::move(s));
    std::cout << s; // ruleid: flow_use_after_free
}

int moved_on_a_branch(std::unique_ptr<Buoy> b, bool far, std::vector<std::unique_ptr<Buoy>> &v)
{
    if (far)
        v.push_back(std::move(b));
    return b->id; // ruleid: flow_use_after_free
}

int set_again(std::vector<std::unique_ptr<Buoy>> &v, std::unique_ptr<Buoy> b)
{
    v.push_back(std::move(b));
    b = std::make_unique<Buoy>();
    return b->id; // ok: flow_use_after_free
}

std::size_t cleared(std::vector<std::string> &v, std::string s)
{
    v.push_back(std::move(s));
    s.clear();
    return s.size(); // ok: flow_use_after_free
}

int moved_and_left(std::unique_ptr<Buoy> b, bool far, std::vector<std::unique_ptr<Buoy>> &v)
{
    if (far) {
        v.push_back(std::move(b));
        return 0;
    }
    return b->id; // ok: flow_use_after_free
}

void read_again(std::vector<std::string> &v)
{
    std::string line;
    while (std::getline(std::cin, line))
        v.push_back(std::move(line)); // ok: flow_use_after_free
}

void one_each(std::vector<std::string> &v)
{
    for (int i = 0; i < 3; ++i) {
        std::string s = label(i);
        v.push_back(std::move(s)); // ok: flow_use_after_free
    }
}

bool only_tested(std::vector<std::unique_ptr<Buoy>> &v, std::unique_ptr<Buoy> b)
{
    v.push_back(std::move(b));
    return b == nullptr; // ok: flow_use_after_free
}

// views of temporaries

std::size_t view_of_sum(const std::string &who)
{
    std::string_view line = who + ", welcome";
    return line.find(','); // ruleid: flow_use_after_free
}

int pointer_of_result(int n)
{
    const char *p = label(n).c_str();
    return p[0]; // ruleid: flow_use_after_free
}

int pointer_of_part(const std::string &s)
{
    const char *p = s.substr(1).c_str();
    return *p; // ruleid: flow_use_after_free
}

char view_of_number(int n)
{
    std::string_view v = std::to_string(n);
    return v[0]; // ruleid: flow_use_after_free
}

std::size_t view_beyond_block(int n)
{
    std::string_view v;
    {
        std::string s = label(n);
        v = s;
    }
    return v.size(); // ruleid: flow_use_after_free
}

std::size_t view_of_kept(const std::string &who)
{
    const std::string whole = who + ", welcome";
    std::string_view line = whole;
    return line.find(','); // ok: flow_use_after_free
}

int used_within(int n)
{
    return std::string(label(n).c_str()).size(); // ok: flow_use_after_free
}

std::size_t view_of_view(std::string_view v)
{
    std::string_view rest = v.substr(1);
    return rest.size(); // ok: flow_use_after_free
}

// iterators, references and pointers into containers

int front_then_growth(std::vector<int> &v)
{
    int &first = v.front();
    for (int i = 0; i < 9; ++i)
        v.push_back(i);
    return first; // ruleid: flow_use_after_free
}

int pointer_then_resize(std::vector<int> v)
{
    int *p = &v[0];
    v.resize(99);
    return *p; // ruleid: flow_use_after_free
}

int data_then_insert(std::vector<int> &v)
{
    const int *p = v.data();
    v.insert(v.begin(), 3);
    return p[0]; // ruleid: flow_use_after_free
}

char text_then_append(std::string s)
{
    const char *p = s.c_str();
    s += "more than before";
    return p[0]; // ruleid: flow_use_after_free
}

int iterator_then_clear(std::map<int, int> m)
{
    auto it = m.begin();
    m.clear();
    return it->second; // ruleid: flow_use_after_free
}

int found_then_erased(std::map<int, int> &m, int k)
{
    auto it = m.find(k);
    m.erase(it);
    return it->second; // ruleid: flow_use_after_free
}

void erased_in_loop(std::vector<int> &v)
{
    for (auto it = v.begin(); it != v.end(); ++it) // ruleid: flow_use_after_free
        if (*it == 0)
            v.erase(it);
}

void erased_from_map(std::map<int, int> &m)
{
    for (auto it = m.begin(); it != m.end(); it++) { // ruleid: flow_use_after_free
        if (it->second == 0)
            m.erase(it);
    }
}

void grows_while_iterating(std::vector<int> &v)
{
    for (int x : v)
        if (x > 3)
            v.push_back(x); // ruleid: flow_use_after_free
}

int member_grows(std::vector<Buoy> &v)
{
    Buoy &b = v[0];
    v.emplace_back();
    return b.id; // ruleid: flow_use_after_free
}

int copied(std::vector<int> &v)
{
    int first = v.front();
    v.push_back(3);
    return first; // ok: flow_use_after_free
}

void reassigned(std::vector<int> &v)
{
    for (auto it = v.begin(); it != v.end();) {
        if (*it == 0)
            it = v.erase(it); // ok: flow_use_after_free
        else
            ++it;
    }
}

void erased_once(std::vector<int> &v)
{
    for (auto it = v.begin(); it != v.end(); ++it) { // ok: flow_use_after_free
        if (*it == 0) {
            v.erase(it);
            break;
        }
    }
}

void stepped_before(std::map<int, int> &m)
{
    for (auto it = m.begin(); it != m.end();) {
        if (it->second == 0)
            m.erase(it++); // ok: flow_use_after_free
        else
            ++it;
    }
}

int reserved(std::vector<int> v)
{
    v.reserve(9);
    int &first = v.front();
    v.push_back(3);
    return first; // ok: flow_use_after_free
}

int nodes_stay(std::map<int, int> &m)
{
    int &first = m[1];
    m[2] = 3;
    m.insert({4, 5});
    return first; // ok: flow_use_after_free
}

int deque_references_stay(std::deque<int> &d)
{
    int &first = d.front();
    d.push_back(3);
    return first; // ok: flow_use_after_free
}

int grown_and_left(std::vector<int> &v)
{
    for (int x : v) {
        if (x > 3) {
            v.push_back(x); // ok: flow_use_after_free
            return x;
        }
    }
    return 0;
}

int asked_again(std::vector<int> &v)
{
    int *p = v.data();
    v.push_back(3);
    p = v.data();
    return *p; // ok: flow_use_after_free
}

// what is returned

const std::string &reference_to_local(int n)
{
    std::string s = std::to_string(n);
    return s; // ruleid: flow_stack_address
}

const char *text_of_local(int n)
{
    std::string s = label(n);
    return s.c_str(); // ruleid: flow_stack_address
}

std::string_view view_of_local(int n)
{
    std::string s = label(n);
    return s; // ruleid: flow_stack_address
}

std::string_view view_of_result(int n)
{
    return label(n) + "!"; // ruleid: flow_stack_address
}

int &element_of_local()
{
    std::vector<int> v(3);
    return v[0]; // ruleid: flow_stack_address
}

Buoy &parameter_by_value(Buoy b)
{
    b.id++;
    return b; // ruleid: flow_stack_address
}

std::function<int()> counter()
{
    int n = 0;
    return [&n] { return ++n; }; // ruleid: flow_stack_address
}

auto captures_all(int start)
{
    int n = start;
    auto f = [&] { return ++n; };
    return f; // ruleid: flow_stack_address
}

struct Panel {
    std::function<void()> on_click;
    std::vector<std::function<int()>> jobs;
    std::string name;
    void wire();
    void queue(int n);
    void queue_value(int n);
    const std::string &title() const;
};

void Panel::wire()
{
    int clicks = 0;
    on_click = [&clicks] { ++clicks; }; // ruleid: flow_stack_address
}

void Panel::queue(int n)
{
    jobs.push_back([&n] { return n; }); // ruleid: flow_stack_address
}

void Panel::queue_value(int n)
{
    jobs.push_back([n] { return n; }); // ok: flow_stack_address
}

const std::string &Panel::title() const
{
    return name; // ok: flow_stack_address
}

const std::string &of_static()
{
    static std::string s = "calm";
    return s; // ok: flow_stack_address
}

std::string &given_back(std::string &s)
{
    s += "!";
    return s; // ok: flow_stack_address
}

std::function<int()> by_value()
{
    int n = 0;
    return [n]() mutable { return ++n; }; // ok: flow_stack_address
}

int called_here()
{
    int n = 0;
    auto f = [&n] { return ++n; };
    f();
    return n; // ok: flow_stack_address
}

// smart pointers

int deletes_owned()
{
    auto p = std::make_unique<int>(3);
    int *raw = p.get();
    delete raw; // ruleid: flow_double_free
    return 0;
}

void deletes_result(std::unique_ptr<Buoy> p)
{
    delete p.get(); // ruleid: flow_double_free
}

void two_owners(Buoy *raw)
{
    std::shared_ptr<Buoy> a(raw);
    std::shared_ptr<Buoy> b(raw); // ruleid: flow_double_free
}

void owner_of_owned(std::shared_ptr<Buoy> a)
{
    std::shared_ptr<Buoy> b(a.get()); // ruleid: flow_double_free
}

void owned_then_deleted()
{
    Buoy *raw = new Buoy;
    std::unique_ptr<Buoy> p(raw);
    p->id = 3;
    delete raw; // ruleid: flow_double_free
}

int used_after_reset(std::unique_ptr<Buoy> p)
{
    Buoy *raw = p.get();
    p.reset();
    return raw->id; // ruleid: flow_use_after_free
}

void gives_up(std::unique_ptr<Buoy> p)
{
    Buoy *raw = p.release();
    delete raw; // ok: flow_double_free
}

void shares(std::shared_ptr<Buoy> a)
{
    std::shared_ptr<Buoy> b(a); // ok: flow_double_free
    std::shared_ptr<Buoy> c = a;
}

int referred_to_owned(std::unique_ptr<Buoy> p)
{
    Buoy &b = *p;
    p.reset();
    return b.id; // ruleid: flow_use_after_free
}

int element_erased(std::map<int, Buoy> &m)
{
    Buoy &b = m[3];
    m.erase(3);
    return b.id; // ruleid: flow_use_after_free
}

int other_element_erased(std::map<int, Buoy> &m)
{
    Buoy &b = m[3];
    m.erase(4);
    return b.id; // ok: flow_use_after_free
}

void detached()
{
    int n = 0;
    std::thread t([&n] { n++; });
    t.detach(); // ruleid: flow_stack_address
}

void joined()
{
    int n = 0;
    std::thread t([&n] { n++; });
    t.join(); // ok: flow_stack_address
}

// destructors

void by_base_without()
{
    Shape *s = new Disc;
    delete s; // ruleid: flow_mismatched_free
}

void plain_base()
{
    Plain *p = new Derived;
    delete p; // ruleid: flow_mismatched_free
}

void owner_of_base()
{
    std::unique_ptr<Plain> p(new Derived); // ruleid: flow_mismatched_free
    p->n = 1;
}

void unknown_shape(Shape *s)
{
    delete s; // ruleid: flow_mismatched_free
}

void by_base_with()
{
    Tide *t = new Ebb;
    delete t; // ok: flow_mismatched_free
}

void by_own_type()
{
    Disc *d = new Disc;
    delete d; // ok: flow_mismatched_free
}

void not_derived(Plain *p)
{
    delete p; // ok: flow_mismatched_free
}

} // namespace tides
