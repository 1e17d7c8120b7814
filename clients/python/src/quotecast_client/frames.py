"""Answers as data frames of pandas or polars, if they are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    import polars as pl

    #: Bars, holdings and other lists, or quotes by name.
    Rows = Iterable[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]]

#: Columns of moments in ISO 8601, which become times in UTC.
MOMENTS = frozenset({"time", "timestamp", "created_at", "updated_at"})


def to_pandas(rows: Rows) -> pd.DataFrame:
    """Returns rows as a pandas DataFrame, bars with their time as the index."""
    import pandas as pd  # noqa: PLC0415 - need not be installed

    frame = pd.DataFrame(_listed(rows))
    for name in MOMENTS & set(frame.columns):
        frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
    return frame.set_index("time") if "time" in frame.columns else frame


def to_polars(rows: Rows) -> pl.DataFrame:
    """Returns rows as a polars DataFrame."""
    import polars as pl  # noqa: PLC0415 - need not be installed

    frame = pl.DataFrame(_listed(rows), infer_schema_length=None)
    texts = [name for name in frame.columns if name in MOMENTS and frame.schema[name] == pl.String]
    return frame.with_columns(
        pl.col(name).str.to_datetime(time_unit="us", time_zone="UTC", format="%+") for name in texts
    )


def _listed(rows: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in (rows.values() if hasattr(rows, "values") else rows)]
