// Prints the changes of quotes, as a user's program on Node reads them: node typescript_stream.mjs <address> <symbols>
import { Client } from "quotecast-client";
import { WebSocket } from "ws";

const [address, symbols] = process.argv.slice(2);
const client = new Client(address, { WebSocket });
for await (const { symbol, quote, removed } of client.stream(symbols.split(","), { interval: 100 }))
  console.log(JSON.stringify([symbol, removed ? null : quote.price]));
