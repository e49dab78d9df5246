"""Groups of options that several commands take as one parameter (`with_option_groups`)."""

from __future__ import annotations

from typing import Any, ClassVar

import typer

from lineage.cli.options import (
    BudgetOption,
    CatalogOption,
    DatabaseOption,
    FunctionsOption,
    NamespaceOption,
    RefreshOption,
    SchemaOption,
    SetOperations,
    SetOperationsOption,
)
from lineage.cli.store_options import LockTimeoutOption, StoreOption
from lineage.frozen import frozen
from lineage.sql.budget import Budget, BudgetError
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.calls.functions import FunctionsFileError

__all__ = ["NameFlags", "ResolutionFlags", "SchemaFlags", "WrittenStoreFlags", "extraction_options"]


@frozen(slots=False)
class NameFlags:
    """Options of names that are not whole."""

    panel: ClassVar[str | None] = "Names and schemas"

    namespace: NamespaceOption = ""
    default_database: DatabaseOption = None
    default_schema: SchemaOption = None

    def of_api(self) -> dict[str, Any]:
        """Return them as keyword arguments of options of the Python API."""
        return {
            "namespace": self.namespace,
            "default_database": self.default_database,
            "default_schema": self.default_schema,
        }


@frozen(slots=False)
class SchemaFlags(NameFlags):
    """Options of names and of the schemas of tables."""

    panel: ClassVar[str | None] = "Names and schemas"

    catalog: CatalogOption = None
    refresh_catalog: RefreshOption = False

    def of_api(self) -> dict[str, Any]:
        """Return them as keyword arguments of options of the Python API."""
        schemas = {"catalog": tuple(self.catalog or ()), "refresh_catalog": self.refresh_catalog}
        return NameFlags.of_api(self) | schemas


@frozen(slots=False)
class ResolutionFlags:
    """Options of how SQL is resolved."""

    panel: ClassVar[str | None] = "Resolution of SQL"

    functions: FunctionsOption = None
    budget: BudgetOption = None
    set_operations: SetOperationsOption = SetOperations.EXACT

    def of_api(self) -> dict[str, Any]:
        """Return them as keyword arguments of options of the Python API.

        Raises:
            typer.BadParameter: a limit is unknown, or is not a number.
        """
        try:
            budget = Budget.parse(self.budget or ())
        except BudgetError as error:
            raise typer.BadParameter(str(error), param_hint="--budget") from error
        functions = tuple(self.functions or ())
        return {"functions": functions, "budget": budget, "set_operations": self.set_operations.value}


@frozen(slots=False)
class WrittenStoreFlags:
    """Options of the store that a command writes to."""

    panel: ClassVar[str | None] = None

    store: StoreOption = None
    lock_timeout: LockTimeoutOption = None
    """It has no value here: the store asks for the variable that the option sets."""


def extraction_options(dialect: str, names: NameFlags, resolution: ResolutionFlags) -> ExtractionOptions:
    """Return the extraction options for the options of a command.

    Raises:
        typer.BadParameter: a file of functions or a limit is invalid.
    """
    given = resolution.of_api()
    try:
        return options_for(
            dialect,
            namespace=names.namespace,
            default_database=names.default_database,
            default_schema=names.default_schema,
            functions=given["functions"],
            set_operation_references=given["set_operations"],
            budget=given["budget"],
        )
    except FunctionsFileError as error:
        raise typer.BadParameter(str(error), param_hint="--functions") from error
