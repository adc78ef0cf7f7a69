#include <string>

class Users {
public:
    void find(Request &request);
    void find_clean(Request *request);

private:
    Statement *statement;
};

void Users::find(Request &request)
{
    auto name = request.header("X-Name");
    statement->execute(name); // ruleid: packet_query
    auto other = request.header("X-Other");
    statement->execute(other); // ok: packet_query
}

void Users::find_clean(Request *request)
{
    auto name = request->header("X-Name");
    statement->execute("SELECT 1", name); // ok: packet_query
    statement->execute(escape_sql(name)); // ok: packet_query
    statement->execute(name); // ruleid: packet_query
}

void reference(Statement &statement)
{
    std::string name;
    read_packet(name);
    statement.execute(name); // ruleid: packet_query
    statement.execute("SELECT 1"); // ok: packet_query
}
