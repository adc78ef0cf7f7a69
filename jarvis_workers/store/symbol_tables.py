"""Tables of the symbols of C projects, of the edges between them, and of functions that a model translated."""

from sqlalchemy import Index, LargeBinary, Text
from sqlmodel import Field, SQLModel

from jarvis_workers.store.tables import table


class SymbolRow(SQLModel, table=True):
    """A symbol; see `c2rust.symbol.Symbol`. `params`, `calls` and `facts` are JSON lists, `key` is in display form."""

    __tablename__ = "symbol"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    number: int = Field(primary_key=True)
    key: str = Field(sa_type=Text)
    category: str = Field(max_length=8)
    kind: str = Field(max_length=32)
    name: str = Field(sa_type=Text)
    qualified_name: str = Field(sa_type=Text)
    file: str = Field(sa_type=Text)
    file_raw: bytes = Field(sa_type=LargeBinary)
    line: int
    column: int
    end_line: int
    end_column: int
    language: str = Field(max_length=8)
    signature: str = Field(sa_type=Text)
    return_type: str = Field(sa_type=Text)
    params: str = Field(sa_type=Text)
    source_hash: str = Field(max_length=64)
    facts: str = Field(sa_type=Text)
    calls: str = Field(sa_type=Text)
    complete: bool
    arguments_hash: str = Field(max_length=64)


class EdgeRow(SQLModel, table=True):
    """A use of the symbol `callee` by the symbol `caller`, both given by number."""

    __tablename__ = "edge"
    __table_args__ = (Index("ix_edge_callee", "run_id", "callee"),)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    caller: int = Field(primary_key=True)
    callee: int = Field(primary_key=True)
    kind: str = Field(primary_key=True, max_length=8)


class TranslationRow(SQLModel, table=True):
    """The proof of the body that a model wrote in a conversation, "none" if no answer was accepted."""

    __tablename__ = "translation"
    job_id: int = Field(
        foreign_key="job.id", ondelete="CASCADE", primary_key=True, sa_column_kwargs={"autoincrement": False}
    )
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32, index=True)
    proof: str = Field(max_length=16)


SYMBOL, EDGE, TRANSLATION = table(SymbolRow), table(EdgeRow), table(TranslationRow)
