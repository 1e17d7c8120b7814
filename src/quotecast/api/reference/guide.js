// Shows a guide: the Markdown beside this page's address, rendered by Swagger UI as a description.
"use strict";

async function show() {
  const name = location.pathname.replace(/\/$/, "").split("/").at(-1);
  const text = await (await fetch(`${name}.md`)).text();
  const [heading] = text.split("\n", 1);
  const description = text
    .slice(heading.length)
    // The service has the pages without their pictures.
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    // Links between guides lead to their pages instead of their Markdown.
    .replace(/\]\(((?!https?:)[^)#]+)\.md(#[^)]*)?\)/g, "]($1$2)");
  const title = heading.replace(/^# /, "");
  document.title = `${title}: quotecast`;
  SwaggerUIBundle({
    dom_id: "#reference",
    spec: { openapi: "3.0.3", info: { title, description, version: "" }, paths: {} },
    validatorUrl: null,
  });
}

// Swagger UI opens the links of a description in new tabs.
function stayInTab({ target }) {
  const link = target.closest("#reference a");
  if (link) link.target = "_self";
}

document.addEventListener("click", stayInTab, true);
show();
