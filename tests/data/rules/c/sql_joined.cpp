#include <string>

std::string find(const std::string &name, int id)
{
    std::string query = "SELECT id FROM user WHERE name = '" + name + "'";    // ruleid: sql_built
    db.exec("DELETE FROM user WHERE name = '" + name + "';");                 // ruleid: sql_built
    query = "INSERT INTO log VALUES (" + std::to_string(id) +
            ", '" + name + "')";                                              // ruleid: sql_built
    query = "SELECT id FROM user WHERE id = " + std::to_string(id);           // ok: sql_built
    query = "SELECT id FROM user WHERE name = '" + db.escape(name) + "'";     // ok: sql_built
    query = "SELECT id FROM user WHERE kind = '" + KIND + "'";                // ok: sql_built
    std::string words = "he said '" + name + "'";                             // ok: sql_built
    return "Select a name from '" + name + "'";                               // ok: sql_built
}
