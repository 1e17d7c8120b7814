// Reads frames of a feed as users of `ws` on Node and of Bun do: prints the extension, then each frame on a line.
const [url, count] = process.argv.slice(2);
const WebSocket = process.versions.bun ? globalThis.WebSocket : (await import("ws")).WebSocket;
const socket = new WebSocket(url);
let left = Number(count);

socket.onerror = (event) => {
  console.error(event.message ?? "the connection failed");
  process.exit(1);
};
socket.onopen = () => console.log(socket.extensions);
socket.onmessage = (event) => {
  console.log(event.data);
  left -= 1;
  if (left === 0) process.exit(0);
};
