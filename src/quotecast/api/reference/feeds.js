// Shows /api/asyncapi.json. A file of its own, because the page's security policy admits no inline script.
"use strict";

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function row(cell, ...texts) {
  return element("tr", ...texts.map((text) => element(cell, text)));
}

// In a few words what a schema allows: names of schemas stand for themselves.
function kindOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(kindOf).join(" or ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `list of ${kindOf(schema.items ?? {})}`;
  return [schema.type ?? "anything"].flat().join(" or ");
}

function fieldsOf(schema) {
  if (schema.oneOf) return element("p", `One of ${kindOf(schema)}`);
  const required = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    row("td", name, kindOf(field), required.includes(name) ? "always" : "", field.description ?? ""));
  return element("table", row("th", "field", "kind", "", ""), ...rows);
}

function* messageOf(api, message) {
  yield element("h3", message.name);
  yield element("p", message.summary);
  yield fieldsOf(api.components.schemas[kindOf(message.payload)]);
  for (const { payload } of message.examples) yield element("pre", JSON.stringify(payload));
}

function* channelOf(api, channel) {
  yield element("h2", channel.title);
  yield element("p", "Address: ", element("code", channel.address), ", with these query parameters:");
  yield fieldsOf(channel.bindings.ws.query);
  for (const message of Object.values(channel.messages)) yield* messageOf(api, message);
}

function* schemasOf(api) {
  yield element("h2", "Schemas");
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    yield element("h3", name);
    yield fieldsOf(schema);
  }
}

async function show() {
  const answer = await fetch("/api/asyncapi.json");
  const api = await answer.json();
  const reference = document.getElementById("reference");
  reference.append(element("h1", api.info.title));
  for (const paragraph of api.info.description.split("\n\n")) reference.append(element("p", paragraph));
  for (const channel of Object.values(api.channels)) reference.append(...channelOf(api, channel));
  reference.append(...schemasOf(api));
}

show();
