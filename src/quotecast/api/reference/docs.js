// Shows /api/openapi.json. A file of its own, because the page's security policy admits no inline script.
"use strict";

// The bundled Swagger UI knows OpenAPI 3.0; in what this API uses, 3.1 differs from it only in how a
// schema says that a value is constant or may be null.
function asOpenApi30(value) {
  if (Array.isArray(value)) return value.map(asOpenApi30);
  if (value === null || typeof value !== "object") return value;
  const { const: constant, ...rest } = value;
  const schema = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, asOpenApi30(inner)]));
  if (typeof constant === "string") schema.enum = [constant];
  if (Array.isArray(schema.type)) {
    if (schema.type.includes("null")) schema.nullable = true;
    schema.type = schema.type.find((name) => name !== "null");
  }
  for (const union of ["anyOf", "oneOf"]) {
    if (!Array.isArray(schema[union])) continue;
    const kinds = schema[union].filter((kind) => kind.type !== "null");
    if (kinds.length < schema[union].length) schema.nullable = true;
    delete schema[union];
    if (kinds.length === 1) Object.assign(schema, kinds[0]);
    else schema[union] = kinds;
  }
  return schema;
}

async function show() {
  const answer = await fetch("/api/openapi.json");
  SwaggerUIBundle({
    dom_id: "#reference",
    spec: { ...asOpenApi30(await answer.json()), openapi: "3.0.3" },
    deepLinking: true,
    validatorUrl: null,
  });
}

show();
