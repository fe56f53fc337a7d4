"""Which columns of a wide table are told of."""

from easeml.contract.datasets import Column, most_telling


def column(name: str, type: str = "number", role: str = "input") -> Column:
    return Column(name=name, type=type, role=role)


def test_columns_that_are_not_like_the_others_are_told_in_their_order() -> None:
    alike = [column(f"gene{place}") for place in range(100)]
    columns = [column("patient", "text", "drop"), *alike, column("state", "category", "target")]
    told = [one.name for one in most_telling(columns, 5)]
    assert told == ["patient", "gene0", "gene1", "gene2", "state"]


def test_all_columns_are_told_where_they_are_few() -> None:
    columns = [column("a"), column("b", "text")]
    assert most_telling(columns, 2) == columns
