"""JSON Schemas of OpenBB Workspace's documents, written from its documentation.

docs.openbb.co/workspace/developers: json-specs/widgets-json-reference, json-specs/apps-json-reference, and
the pages of widget types, widget parameters and render functions. Names outside of the documentation fail.
"""

from typing import Any

TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """Returns the schema of an object without other names."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def one_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


FORMATTERS = one_of("int", "none", "percent", "normalized", "normalizedPercent", "dateToYear")
RENDERERS = one_of("greenRed", "titleCase", "hoverCard", "cellOnClick", "columnColor", "showCellChange")
RENDER_PARAMS = closed(
    actionType=one_of("groupBy", "sendToAgent"),
    groupBy=closed(("paramName",), paramName=TEXT, valueField=TEXT, forceUpdate=FLAG),
    colorValueKey=TEXT,
)
COLUMN = closed(
    ("field",),
    field=TEXT,
    headerName=TEXT,
    chartDataType=one_of("category", "series", "time", "excluded"),
    cellDataType=one_of("text", "number", "boolean", "date", "dateString", "object"),
    align=one_of("left", "center", "right"),
    enableCellChangeWs=FLAG,
    formatterFn=FORMATTERS,
    decimalPlaces=NUMBER,
    renderFn=RENDERERS,
    renderFnParams=RENDER_PARAMS,
    width=NUMBER,
    maxWidth=NUMBER,
    minWidth=NUMBER,
    hide=FLAG,
    pinned=one_of("left", "right"),
    headerTooltip=TEXT,
    prefix=TEXT,
    suffix=TEXT,
)
TABLE = closed(
    enableCharts=FLAG,
    showAll=FLAG,
    transpose=FLAG,
    enableAdvanced=FLAG,
    enableFormulas=FLAG,
    formatterFn=FORMATTERS,
    columnsDefs={**array(COLUMN), "minItems": 1},
)
DATA = closed(dataKey=TEXT, wsRowIdColumn=TEXT, table=TABLE, defaultSymbol=TEXT, updateFrequency=NUMBER)
OPTION = closed(
    ("label", "value"),
    label=TEXT,
    value={"type": ["string", "number", "boolean"]},
    extraInfo=closed(description={"type": "string"}, rightOfDescription={"type": "string"}),
)
OPTIONS = {**array(OPTION), "maxItems": 1000}
PARAM = {
    **closed(
        ("type", "paramName", "label"),
        type=one_of("date", "text", "ticker", "number", "boolean", "endpoint", "form", "tabs"),
        paramName=TEXT,
        value={"type": ["string", "number", "boolean", "null"]},
        label=TEXT,
        optionsEndpoint=TEXT,
        multiple=FLAG,
        optionsParams={"type": "object"},
        show=FLAG,
        description=TEXT,
        multiSelect=FLAG,
        style=closed(popupWidth={"type": "number", "minimum": 200, "maximum": 1000}),
        options=array(OPTION),
    ),
    "if": {"properties": {"type": {"const": "endpoint"}}},
    "then": {"required": ["optionsEndpoint"]},
}
#: The page on TradingView and all examples call it `advanced_charting`, the reference `advanced-chart`.
TYPES = one_of(
    *("chart", "table", "table_ssrm", "markdown", "metric", "note", "multi_file_viewer", "live_grid"),
    *("newsfeed", "advanced_charting", "chart-highcharts", "chart-vegalite", "youtube", "iframe"),
)
PLACES = {name: {"type": "integer", "minimum": 1, "maximum": 40} for name in ("w", "minW", "maxW")} | {
    name: {"type": "integer", "minimum": 1, "maximum": 100} for name in ("h", "minH", "maxH")
}
MILLISECONDS = {"type": "number", "minimum": 1000}
WIDGET = {
    **closed(
        ("name", "description", "endpoint"),
        name=TEXT,
        description=TEXT,
        endpoint=TEXT,
        wsEndpoint=TEXT,
        category=TEXT,
        subCategory=TEXT,
        type=TYPES,
        raw=FLAG,
        runButton=FLAG,
        exportable=FLAG,
        gridData=closed(("w", "h"), **PLACES),
        data=DATA,
        params=array(PARAM),
        source=array(TEXT),
        refetchInterval=MILLISECONDS,
        staleTime=MILLISECONDS,
    ),
    "if": {"properties": {"type": {"const": "live_grid"}}},
    "then": {
        "required": ["wsEndpoint", "data"],
        "properties": {"data": {"required": ["wsRowIdColumn", "table"]}},
    },
}
WIDGETS = {"type": "object", "additionalProperties": WIDGET, "minProperties": 1}

PLACED = closed(
    ("i", "x", "y", "w", "h"),
    i=TEXT,
    x={"type": "integer", "minimum": 0, "maximum": 39},
    y={"type": "integer", "minimum": 0},
    w=PLACES["w"],
    h=PLACES["h"],
    state={"type": "object"},
)
APP = closed(
    ("name", "description", "tabs", "groups"),
    name=TEXT,
    description=TEXT,
    img={"type": "string"},
    img_dark={"type": "string"},
    img_light={"type": "string"},
    allowCustomization=FLAG,
    tabs={
        "type": "object",
        "additionalProperties": closed(
            ("id", "name", "layout"),
            id={"type": "string"},
            name={"type": "string"},
            layout=array(PLACED),
        ),
    },
    groups=array(
        closed(
            ("name", "type", "paramName", "widgetIds"),
            name=TEXT,
            type=one_of("param", "endpointParam"),
            paramName=TEXT,
            widgetIds=array(TEXT),
            defaultValue=TEXT,
        )
    ),
    prompts=array(TEXT),
)
APPS = array(APP)

ARTICLE = closed(
    ("title", "date", "author", "excerpt", "body"),
    title=TEXT,
    date=TEXT,
    author={"type": "string"},
    excerpt={"type": "string"},
    body={"type": "string"},
)
METRIC = closed(("label", "value"), label=TEXT, value=TEXT, delta=TEXT)
FIGURE = closed(("data", "layout"), data=array({"type": "object", "required": ["type"]}), layout={})
ROWS = array({"type": "object"})
#: What an endpoint answers, by the type of its widget.
ANSWERS = {
    "live_grid": ROWS,
    "table": ROWS,
    "chart": FIGURE,
    "newsfeed": array(ARTICLE),
    "metric": array(METRIC),
}
