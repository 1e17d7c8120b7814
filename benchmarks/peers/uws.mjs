// uWebSockets (C++) as its users write it: native publish, and a Redis subscription that feeds it.
import { createClient } from "redis";
import uws from "uwebsockets";

const deflate = process.env.DEFLATE === "1";
const app = uws.App();

app.ws("/ws", {
  compression: deflate ? uws.SHARED_COMPRESSOR : uws.DISABLED,
  maxBackpressure: 1 << 20,
  open: (socket) => socket.subscribe("quotes"),
});
app.listen(process.env.HOST, Number(process.env.PORT), (socket) => {
  if (!socket) process.exit(1);
});

const subscriber = createClient({ url: process.env.REDIS_URL });
await subscriber.connect();
await subscriber.subscribe("quotes", (message) => app.publish("quotes", message, false, deflate));
