#include <cstdlib>
#include <cstring>
#include <new>

struct Probe { int channel; double last; };

void one_by_free()
{
    Probe *p = new Probe;
    p->channel = 1;
    free(p); // ruleid: flow_mismatched_free
}

void many_by_delete(unsigned n)
{
    int *all = new int[n];
    all[0] = 3;
    delete all; // ruleid: flow_mismatched_free
}

void heap_by_delete()
{
    char *raw = static_cast<char *>(std::malloc(24));
    if (!raw)
        return;
    raw[0] = 0;
    delete raw; // ruleid: flow_mismatched_free
}

void one_by_array_delete(bool quick)
{
    double *d = new double(0.5);
    if (quick)
        *d = 1.0;
    delete[] d; // ruleid: flow_mismatched_free
}

void copy_by_delete(const char *name)
{
    char *mine = strdup(name);
    delete[] mine; // ruleid: flow_mismatched_free
}

static int *take_row() { return new int[16]; }

void row_from_callee()
{
    int *row = take_row();
    row[1] = 2;
    std::free(row); // ruleid: flow_mismatched_free
}

class Shelf {
public:
    Shelf() : slots(new int[8]) {}
    ~Shelf() { free(slots); } // ruleid: flow_mismatched_free
private:
    int *slots;
};

int shelf_in_use()
{
    Shelf shelf;
    return 1;
}

// near misses

void one_by_one()
{
    Probe *p = new Probe;
    delete p; // ok: flow_mismatched_free
}

void many_by_many(unsigned n)
{
    int *all = new int[n];
    all[0] = 3;
    delete[] all; // ok: flow_mismatched_free
}

void heap_by_heap()
{
    char *raw = static_cast<char *>(std::malloc(24));
    std::free(raw); // ok: flow_mismatched_free
}

void branch_keeps_family(bool big)
{
    if (big) {
        int *many = new int[100];
        many[0] = 1;
        delete[] many; // ok: flow_mismatched_free
    } else {
        int *one = new int;
        *one = 1;
        delete one; // ok: flow_mismatched_free
    }
}

void placed_and_freed()
{
    void *room = std::malloc(sizeof(Probe));
    if (!room)
        return;
    Probe *p = new (room) Probe;
    p->~Probe();
    std::free(room); // ok: flow_mismatched_free
}

void reassigned()
{
    int *p = new int[4];
    delete[] p;
    p = static_cast<int *>(std::malloc(16));
    std::free(p); // ok: flow_mismatched_free
}

class Rack {
public:
    Rack() : slots(new int[8]) {}
    ~Rack() { delete[] slots; } // ok: flow_mismatched_free
private:
    int *slots;
};

int rack_in_use()
{
    Rack rack;
    return 1;
}
