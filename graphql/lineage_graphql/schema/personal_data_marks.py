"""Personal data in the columns of a picture."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from lineage.governance.exposure import Exposure
from lineage.governance.held_classes import HeldClass, HeldClasses, held_classes
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.store.protocol import GraphStore
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import RefusedError
from lineage_graphql.schema.fields import argument, doc_field, in_utc, some_of
from lineage_graphql.schema.traversals.traversal import AsOf

__all__ = ["HeldClassQueries"]


@strawberry.type(description="A class of personal data that a column holds.")
class ClassInColumn:
    """A class of personal data that a column holds."""

    name: str = doc_field("The class: email, phone, …")
    exposure: Exposure = doc_field("What the column shows of it.")
    source_key: strawberry.ID = doc_field("Key of the tagged column that it comes from: maybe the column itself.")

    @classmethod
    def of(cls, held: HeldClass) -> ClassInColumn:
        """Return the GraphQL object of a class."""
        return cls(name=held.name, exposure=held.exposure, source_key=strawberry.ID(held.source))


@strawberry.type(description="A column that holds personal data.")
class ColumnWithClasses:
    """A column that holds personal data."""

    key: strawberry.ID = doc_field("Key of the column.")
    classes: list[ClassInColumn] = doc_field("Its classes, each with the way that shows most.")


@strawberry.type(description="Which of some columns hold personal data.")
class PersonalDataIn:
    """Which of some columns hold personal data."""

    columns: list[ColumnWithClasses] = doc_field("Those that do, by key.")
    cuts: list[str] = doc_field("Limits that cut the search above the columns: then there may be more.")


@strawberry.type
class HeldClassQueries:
    """The field of `Query` that says which columns hold personal data."""

    @strawberry.field(
        description="Which of some columns hold personal data: tagged, or reached by values of tagged ones. "
        "Tags are those of now, edges those of `asOf`."
    )
    async def personal_data_in(
        self,
        info: LineageInfo,
        columns: Annotated[list[str], argument("Columns by key; those that are not known are left out.")],
        as_of: AsOf = None,
    ) -> PersonalDataIn:
        """Return which columns hold personal data."""
        info.context.require(Role.READER)
        asked = some_of("columns", columns)
        limits = info.context.limits
        if len(asked) > limits.page:
            raise RefusedError.over_limit("page", limits.page, len(asked), "give fewer columns")
        at = in_utc(as_of) if as_of else None

        def work(store: GraphStore) -> HeldClasses:
            return _find(store, asked, at, limits.reached, limits.seconds)

        found: HeldClasses = await info.context.ask(work)
        return PersonalDataIn(
            columns=[
                ColumnWithClasses(key=strawberry.ID(key), classes=[ClassInColumn.of(one) for one in classes])
                for key, classes in found.by_column.items()
            ],
            cuts=list(found.cuts),
        )


def _find(
    store: GraphStore, columns: tuple[str, ...], as_of: datetime | None, most: int, seconds: float
) -> HeldClasses:
    # What functions do is known to the extraction, which the service loads when it is first needed.
    from lineage.sql.resolve.calls.functions import value_functions  # noqa: PLC0415

    known = classify(store, default_rules())
    return held_classes(store, known, value_functions(), columns, as_of=as_of, most=most, timeout=seconds)
