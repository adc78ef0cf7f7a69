"""The intermediate representation of C and C++: named tuples whose first field is the tag of their kind.

The front end writes them as JSON lists, tag first, which the interpreter reads; `decode` makes nodes of these lists,
and `validator` checks them.
"""
