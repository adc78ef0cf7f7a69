"""Numbers of libclang 18: kinds of cursors and types, linkage, severities (clang-c/Index.h)."""

from enum import IntEnum

from jarvis_workers.source.clang.c_types import TypeKind as CTypeKind


class CursorKind(IntEnum):
    UNEXPOSED_DECL = 1
    STRUCT = 2
    UNION = 3
    CLASS = 4
    ENUM = 5
    FIELD = 6
    ENUM_CONSTANT = 7
    FUNCTION = 8
    VARIABLE = 9
    PARAMETER = 10
    TYPEDEF = 20
    METHOD = 21
    NAMESPACE = 22
    LINKAGE_SPEC = 23
    CONSTRUCTOR = 24
    DESTRUCTOR = 25
    CONVERSION = 26
    FUNCTION_TEMPLATE = 30
    CLASS_TEMPLATE = 31
    CLASS_SPECIALIZATION = 32
    TYPE_ALIAS = 36
    TYPE_REF = 43
    TEMPLATE_REF = 45
    FIELD_REF = 47
    LABEL_REF = 48
    UNEXPOSED_EXPR = 100
    DECL_REF = 101
    MEMBER_REF = 102
    CALL = 103
    INTEGER_LITERAL = 106
    FLOATING_LITERAL = 107
    STRING_LITERAL = 109
    CHARACTER_LITERAL = 110
    PAREN = 111
    UNARY = 112
    SUBSCRIPT = 113
    BINARY = 114
    COMPOUND_ASSIGNMENT = 115
    CONDITIONAL = 116
    C_CAST = 117
    COMPOUND_LITERAL = 118
    INITIALIZER_LIST = 119
    ADDRESS_OF_LABEL = 120
    STATEMENT_EXPR = 121
    GENERIC_SELECTION = 122
    SIZEOF = 136
    UNEXPOSED_STMT = 200
    LABEL = 201
    COMPOUND = 202
    CASE = 203
    DEFAULT = 204
    IF = 205
    SWITCH = 206
    WHILE = 207
    DO = 208
    FOR = 209
    GOTO = 210
    INDIRECT_GOTO = 211
    CONTINUE = 212
    BREAK = 213
    RETURN = 214
    ASM = 215
    MS_ASM = 229
    NULL_STMT = 230
    DECLARATION_STMT = 231
    TRANSLATION_UNIT = 350
    UNEXPOSED_ATTR = 400
    PACKED_ATTR = 408
    ALIGNED_ATTR = 441
    MACRO_DEFINITION = 501
    MACRO_EXPANSION = 502
    TYPE_ALIAS_TEMPLATE = 601


class TypeKind(IntEnum):
    UINT128 = 12
    INT128 = 20
    LONG_DOUBLE = 23
    FLOAT128 = 30
    COMPLEX = 100
    POINTER = 101
    RECORD = 105
    ENUM = 106
    FUNCTION_WITHOUT_PROTOTYPE = 110
    FUNCTION = 111
    CONSTANT_ARRAY = 112
    VECTOR = 113
    INCOMPLETE_ARRAY = 114
    VARIABLE_ARRAY = 115
    EXTENDED_VECTOR = 176
    ATOMIC = 177


ARRAYS = (TypeKind.CONSTANT_ARRAY, TypeKind.INCOMPLETE_ARRAY, TypeKind.VARIABLE_ARRAY)
# The kind in c_types of each kind of type, and whether it is signed; all others are "other".
BASIC_TYPES: dict[int, tuple[CTypeKind, bool]] = {
    2: ("void", False),
    3: ("bool", False),
    **dict.fromkeys((4, 5, 6, 7, 8, 9, 10, 11, TypeKind.UINT128), ("integer", False)),
    **dict.fromkeys((13, 14, 15, 16, 17, 18, 19, TypeKind.INT128), ("integer", True)),
    **dict.fromkeys((21, 22), ("floating", True)),
    **dict.fromkeys((TypeKind.FUNCTION, TypeKind.FUNCTION_WITHOUT_PROTOTYPE), ("function", False)),
    TypeKind.POINTER: ("pointer", False),
    TypeKind.RECORD: ("record", False),
    TypeKind.ENUM: ("enum", False),
    TypeKind.CONSTANT_ARRAY: ("array", False),
    TypeKind.INCOMPLETE_ARRAY: ("incomplete_array", False),
    TypeKind.VARIABLE_ARRAY: ("variable_array", False),
}


FUNCTIONS = frozenset(
    {
        CursorKind.FUNCTION,
        CursorKind.METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION,
        CursorKind.FUNCTION_TEMPLATE,
    }
)
# Kinds of types whose members are declarations.
RECORDS = frozenset(
    {
        CursorKind.STRUCT,
        CursorKind.UNION,
        CursorKind.CLASS,
        CursorKind.CLASS_TEMPLATE,
        CursorKind.CLASS_SPECIALIZATION,
    }
)
ALIASES = frozenset({CursorKind.TYPEDEF, CursorKind.TYPE_ALIAS, CursorKind.TYPE_ALIAS_TEMPLATE})
TYPES = RECORDS | ALIASES | {CursorKind.ENUM}
# Kinds of cursors that contain declarations but are not symbols themselves.
CONTAINERS = frozenset({CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL})

# CXLinkageKind, CX_StorageClass, CXDiagnosticSeverity.
LINKAGE_NONE, LINKAGE_INTERNAL = 1, 2
STORAGE_STATIC = 3
SEVERITY_WARNING, SEVERITY_ERROR, SEVERITY_FATAL = 2, 3, 4
