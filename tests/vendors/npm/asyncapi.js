// Prints the errors that AsyncAPI's parser finds in a document, without its advice.
const { readFileSync } = require("node:fs");
const { Parser } = require("@asyncapi/parser");

const ERROR = 0;

async function main() {
  const { diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
  console.log(JSON.stringify(diagnostics.filter(({ severity }) => severity === ERROR).map(({ message }) => message)));
}

main();
