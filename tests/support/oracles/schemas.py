"""JSON Schemas that refuse what they do not describe."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types


def closed(schema: Any) -> Any:
    """Returns the schema without additional properties."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    return made | {"additionalProperties": False} if "properties" in schema else made


def validator_of(schema: dict[str, Any], components: Any) -> Any:
    """Returns the validator of a schema whose references lead to `components`."""
    return jsonschema.Draft202012Validator({**schema, "components": closed(components)})
