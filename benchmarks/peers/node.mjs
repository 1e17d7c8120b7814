// A usual Node application: `ws`, and a Redis subscription that it forwards to every client.
import { createClient } from "redis";
import { WebSocketServer } from "ws";

const server = new WebSocketServer({
  port: Number(process.env.PORT),
  host: process.env.HOST,
  perMessageDeflate: process.env.DEFLATE === "1",
});
const subscriber = createClient({ url: process.env.REDIS_URL });

await subscriber.connect();
await subscriber.subscribe("quotes", (message) => {
  for (const client of server.clients) {
    if (client.readyState === client.OPEN) client.send(message);
  }
});
