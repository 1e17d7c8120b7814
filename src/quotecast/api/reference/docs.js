// Shows /api/openapi.json. A file of its own, because the page's security policy admits no inline script.
"use strict";

// The bundled Swagger UI knows OpenAPI 3.0; in what this API uses, 3.1 differs from it only in how a
// schema says that a value is constant or may be null, and what an example is.
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
  if (Array.isArray(schema.examples)) [schema.example] = schema.examples;
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

// An example of an optional parameter would be sent with every trial.
function withoutTrials({ schema: { example, ...schema }, ...parameter }) {
  return { ...parameter, schema: parameter.required ? { ...schema, example } : schema };
}

// Descriptions are Markdown, in which HTML is allowed: each sample unfolds.
function withSamples({ "x-codeSamples": samples, parameters, ...operation }) {
  const shown = samples.map(({ label, lang, source }) => {
    const code = source.replaceAll("http://127.0.0.1:8000", location.origin);
    return `<details><summary>${label}</summary>\n\n\`\`\`${lang}\n${code}\n\`\`\`\n\n</details>`;
  });
  const description = [operation.description, ...shown].join("\n\n");
  return { ...operation, description, parameters: parameters?.map(withoutTrials) };
}

function withSamplesOfAll(paths) {
  const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
  return mapped(paths, (item) => mapped(item, withSamples));
}

async function show() {
  const answer = await fetch("/api/openapi.json");
  const spec = asOpenApi30(await answer.json());
  SwaggerUIBundle({
    dom_id: "#reference",
    spec: { ...spec, paths: withSamplesOfAll(spec.paths), openapi: "3.0.3" },
    deepLinking: true,
    validatorUrl: null,
  });
}

show();
