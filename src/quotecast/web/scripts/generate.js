// Generates the client's types from the service's OpenAPI and AsyncAPI documents:
//     node scripts/generate.js openapi.json asyncapi.json
// writes rest-types.ts and feed-types.ts into clients/typescript/src; with --check it only reports whether they are
// current.
import { readFileSync, writeFileSync } from "node:fs";

const CLIENT = new URL("../../../../clients/typescript/src/", import.meta.url);

const HEADING = "// Made by scripts/generate.js from the service's description; not to be edited.\n";
const METHODS = ["get", "post", "put", "patch", "delete"];

const isName = (text) => /^[A-Za-z_]\w*$/.test(text);
const quoteName = (text) => (isName(text) ? text : JSON.stringify(text));

/** `Estimates_quotecast.market.financials.EpsEstimate_` is a generic type's name: EstimatesOfEpsEstimate. */
function typeName(name) {
  const generic = /^(\w+?)_[\w.]*?(\w+)_$/.exec(name);
  return generic ? `${generic[1]}Of${generic[2]}` : name;
}

function typeOf(schema) {
  if (schema === undefined || schema === true) return "unknown";
  if (schema.$ref) return typeName(schema.$ref.split("/").at(-1));
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((each) => JSON.stringify(each)));
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return union(choices.map(typeOf));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })));
  return basicType(schema);
}

const union = (types) => [...new Set(types)].join(" | ");

function basicType(schema) {
  switch (schema.type) {
    case "integer":
      return "number";
    case "array":
      return `(${typeOf(schema.items)})[]`.replace(/^\((\w+)\)\[\]$/, "$1[]");
    case "object":
      return objectType(schema);
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectType(schema) {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, value]) => `${quoteName(name)}${required.has(name) ? "" : "?"}: ${typeOf(value)};`,
  );
  if (fields.length) return `{ ${fields.join(" ")} }`;
  return `Record<string, ${typeOf(schema.additionalProperties || undefined)}>`;
}

const declareTypes = (schemas) =>
  Object.entries(schemas).map(([name, schema]) => `export type ${typeName(name)} = ${pretty(typeOf(schema))};\n`);

/** Returns an object type with one field per line. */
const pretty = (type) =>
  /^\{ [^{}]* \}$/.test(type) ? `{\n  ${type.slice(2, -2).replaceAll("; ", ";\n  ")}\n}` : type;

function operation(described) {
  const of = (place) => (described.parameters ?? []).filter((each) => each.in === place);
  const parameters = (place) =>
    of(place).map((each) => `${quoteName(each.name)}${each.required ? "" : "?"}: ${typeOf(each.schema)};`);
  const success = Object.entries(described.responses).find(([status]) => status.startsWith("2"))?.[1];
  const body = described.requestBody?.content["application/json"]?.schema;
  const answer = Object.values(success?.content ?? {})[0];
  const parts = [`answer: ${answer ? typeOf(answer.schema) : "null"};`];
  if (of("path").length) parts.push(`path: { ${parameters("path").join(" ")} };`);
  const needed = of("query").some((each) => each.required);
  if (of("query").length) parts.push(`query${needed ? "" : "?"}: { ${parameters("query").join(" ")} };`);
  if (body) parts.push(`body: ${typeOf(body)};`);
  if (described.requestBody?.content["text/csv"]) parts.push("csv: string;");
  if (of("header").some((each) => each.name === "Idempotency-Key")) parts.push("key?: string;");
  return parts.join(" ");
}

function restTypes(document) {
  const lines = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS.filter((each) => item[each]))
      lines.push(`  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: { ${operation(item[method])} };`);
  return [...declareTypes(document.components.schemas), `export interface Operations {\n${lines.join("\n")}\n}\n`];
}

const fileText = (parts) => `${HEADING}\n${parts.join("\n")}`;

function main([...given]) {
  const check = given[0] === "--check" && Boolean(given.shift());
  const [openapi, asyncapi] = given.map((path) => JSON.parse(readFileSync(path, "utf8")));
  const files = {
    "rest-types.ts": fileText(restTypes(openapi)),
    "feed-types.ts": fileText(declareTypes(asyncapi.components.schemas)),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = new URL(name, CLIENT);
    if (!check) writeFileSync(path, text);
    else if (readFileSync(path, "utf8") !== text) {
      console.error(`${name} is outdated: run scripts/generate.js`);
      process.exitCode = 1;
    }
  }
}

main(process.argv.slice(2));
