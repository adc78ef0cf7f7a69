// Who owns an object: a parent that its constructor gets, a container, a smart pointer, a thread.
#include <map>
#include <memory>
#include <vector>

namespace yard {

struct Crate { virtual ~Crate() = default; int weight; };
struct Panel { Panel(Panel *parent, int id); virtual ~Panel(); void show(); };
struct Board : Panel {
    std::vector<Crate *> crates_;
    std::map<int, Crate *> by_weight_;
    void build();
    void keep(int n);
    void sort_in(int n);
    void forget(int n);
};
struct Store {
    std::vector<Crate *> all;
    void add(Crate *c) { all.push_back(c); }
    int weigh(Crate *c) { return c->weight; }
    ~Store() { for (auto *c : all) delete c; }
};
struct Link { Link *next; int v; explicit Link(Link *n) : next(n), v(0) {} };
struct Ship;
struct Mast { Ship *ship; explicit Mast(Ship *s); };
struct Ship { std::vector<Mast *> masts; void add(Mast *m) { masts.push_back(m); } };
struct Shelf { std::unique_ptr<Crate> crate; explicit Shelf(Crate *c) : crate(c) {} };

Mast::Mast(Ship *s) : ship(s) { s->add(this); }

void Board::build()
{
    auto *p = new Panel(this, 3); // ok: flow_memory_leak
    p->show();
}

void Board::keep(int n)
{
    Crate *c = new Crate; // ok: flow_memory_leak
    c->weight = n;
    crates_.push_back(c);
}

void Board::sort_in(int n)
{
    Crate *c = new Crate; // ok: flow_memory_leak
    by_weight_[n] = c;
}

void Board::forget(int n)
{
    Crate *c = new Crate; // ruleid: flow_memory_leak
    c->weight = n;
}

void stored(Store &s)
{
    auto *c = new Crate; // ok: flow_memory_leak
    s.add(c);
}

int only_weighed(Store &s)
{
    auto *c = new Crate; // ruleid: flow_memory_leak
    return s.weigh(c);
}

void without_parent(int id)
{
    auto *p = new Panel(nullptr, id); // ruleid: flow_memory_leak
    p->show();
}

void linked_to_but_not_from(Link *head)
{
    Link *l = new Link(head); // ruleid: flow_memory_leak
    l->v = 2;
}

void rigged(Ship *s)
{
    Mast *m = new Mast(s); // ok: flow_memory_leak
    m->ship = s;
}

void reset(std::unique_ptr<Crate> &p)
{
    Crate *c = new Crate; // ok: flow_memory_leak
    p.reset(c);
}

void in_braces(int n)
{
    Crate *c = new Crate; // ok: flow_memory_leak
    std::unique_ptr<Crate> p{c};
    p->weight = n;
}

void local_container(int n)
{
    std::vector<Crate *> v;
    v.push_back(new Crate); // ruleid: flow_memory_leak
    v.back()->weight = n;
}

void local_container_of_owners()
{
    std::vector<std::unique_ptr<Crate>> v;
    v.emplace_back(new Crate); // ok: flow_memory_leak
}

int on_shelf()
{
    Crate *c = new Crate; // ok: flow_memory_leak
    Shelf s(c);
    return s.crate->weight;
}

} // namespace yard
