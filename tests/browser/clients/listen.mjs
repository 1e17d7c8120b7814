// Reads frames of a feed as users of `ws` on Node and of Bun do: prints the extension, then each frame on a line.
const [url, count] = process.argv.slice(2);
const WebSocket = process.versions.bun ? globalThis.WebSocket : (await import("ws")).WebSocket;
let left = Number(count);

function connect(onopen, onmessage) {
  const socket = new WebSocket(url);
  socket.onerror = (event) => {
    console.error(event.message ?? "the connection failed");
    process.exit(1);
  };
  socket.onopen = () => onopen(socket);
  socket.onmessage = onmessage;
}

function print(event) {
  console.log(event.data);
  left -= 1;
  if (left === 0) process.exit(0);
}

// The server compresses frames that clients share: the first connection is the companion of the second.
connect(
  () => connect((socket) => console.log(socket.extensions), print),
  () => {},
);
