#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace harbour {

class Crane {
public:
    explicit Crane(int reach) : reach_(reach), rope_(nullptr) {}
    virtual ~Crane() { delete[] rope_; }
    int reach() const { return reach_; }
    void hang(unsigned n) { rope_ = new char[n]; }
    static Crane *idle() { return nullptr; }

private:
    int reach_;
    char *rope_;
};

struct Ship {
    std::string name;
    Crane *crane = nullptr;
    int cargo[4] = {};
};

int lift_after_delete()
{
    Crane *c = new Crane(4);
    delete c;
    return c->reach(); // ruleid: flow_use_after_free
}

void delete_twice(bool storm)
{
    Ship *s = new Ship; // ruleid: flow_memory_leak
    if (storm)
        delete s;
    s = storm ? s : new Ship;
    delete s; // ruleid: flow_double_free
}

int leak_on_throw(int n)
{
    int *weights = new int[10]; // ruleid: flow_memory_leak
    if (n > 10)
        throw std::out_of_range("n");
    weights[0] = n;
    int first = weights[0];
    delete[] weights;
    return first;
}

int leak_on_return(bool full)
{
    Ship *s = new Ship; // ruleid: flow_memory_leak
    if (full)
        return -1;
    delete s;
    return 0;
}

int idle_reach()
{
    Crane *c = Crane::idle();
    return c->reach(); // ruleid: flow_null_dereference
}

int null_by_reference(Ship &ship)
{
    ship.crane = nullptr;
    return ship.crane->reach(); // ruleid: flow_null_dereference
}

static void sink(Ship *&ship)
{
    delete ship;
    ship = nullptr;
}

int reference_is_cleared()
{
    Ship *s = new Ship;
    sink(s);
    return s->cargo[0]; // ruleid: flow_null_dereference
}

void cargo_past_the_end(Ship &ship)
{
    for (int i = 0; i <= 4; ++i)
        ship.cargo[i] = i; // ruleid: flow_buffer_overflow
}

const char *dangling_text()
{
    char text[12] = "harbour";
    return text; // ruleid: flow_stack_address
}

int never_set(bool day)
{
    int hour;
    if (day) {
        hour = 12;
    }
    std::printf("%d\n", hour); // ruleid: flow_uninitialized
    return 0;
}

// near misses

int owned_by_pointer(int n)
{
    std::unique_ptr<int[]> weights(new int[10]); // ok: flow_memory_leak
    if (n > 10)
        throw std::out_of_range("n");
    weights[0] = n;
    return weights[0];
}

int handed_to_smart_pointer(bool full)
{
    Ship *raw = new Ship; // ok: flow_memory_leak
    std::shared_ptr<Ship> s(raw);
    return full ? 1 : 0;
}

void handed_to_vector(std::vector<Ship *> &fleet)
{
    fleet.push_back(new Ship); // ok: flow_memory_leak
}

Crane *made_for_caller(int n)
{
    auto *c = new Crane(n); // ok: flow_memory_leak
    c->hang(5);
    return c;
}

int caught_and_deleted(int n)
{
    int *weights = new int[10]; // ok: flow_memory_leak
    try {
        if (n > 10)
            throw std::out_of_range("n");
        weights[0] = n;
    } catch (const std::out_of_range &) {
        delete[] weights;
        return -1;
    }
    delete[] weights; // ok: flow_double_free
    return 0;
}

int reference_is_tested()
{
    Ship *s = new Ship;
    sink(s);
    if (s == nullptr)
        return 0;
    return s->cargo[0]; // ok: flow_null_dereference
}

int new_does_not_fail()
{
    Ship *s = new Ship;
    int first = s->cargo[0]; // ok: flow_unchecked_null
    delete s;
    return first;
}

void cargo_by_range(Ship &ship)
{
    for (int &one : ship.cargo)
        one = 0; // ok: flow_buffer_overflow
}

class Deck {
public:
    Deck() { plan_ = new char[8]; } // ok: flow_memory_leak
    ~Deck() { delete[] plan_; } // ok: flow_double_free
    Deck(const Deck &) = delete;

private:
    char *plan_;
};

int deck_on_stack()
{
    Deck deck;
    return 1;
}

int set_by_lambda()
{
    int hour;
    auto set = [&hour] { hour = 3; };
    set();
    return hour; // ok: flow_uninitialized
}

int set_by_reference_helper(void (*fill)(int &))
{
    int hour;
    fill(hour);
    return hour; // ok: flow_uninitialized
}

void handed_to_lambda(Port &port)
{
    int *weights = new int[10](); // ok: flow_memory_leak
    port.on_arrival([weights]() { delete[] weights; });
}

void not_in_the_lambda(Port &port)
{
    int *weights = new int[10](); // ruleid: flow_memory_leak
    port.on_arrival([]() { return 1; });
}

} // namespace harbour

class Stream {
  public:
    explicit Stream(const char *name) : file_(nullptr) { open(name, 1); } // ok: flow_handle_leak
    void open(const char *name, int level)
    {
        close();
        file_ = name;
        level_ = level;
    }
    void close() { file_ = nullptr; }

  private:
    const char *file_;
    int level_ = 0;
};

class Log {
  public:
    explicit Log(const char *name) { start(name); }
    void start(const char *name)
    {
        int file = open(name, 1); // ruleid: flow_handle_leak
        if (file < 0)
            return;
        level_ = 2;
    }

  private:
    int level_ = 0;
};
