import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The service under test. */
export const ADDRESS = process.env.QUOTECAST_URL ?? "http://127.0.0.1:8000";

const DEADLINE_MS = 60_000;

/** Polls until a condition holds; throws after a generous deadline. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A proxy to the service that can break its connections and swallow the service's messages. */
export class Line {
  connections = 0;
  mute = false;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(client: Socket): void {
    this.connections += 1;
    const { hostname, port } = new URL(ADDRESS);
    const server = connect(Number(port), hostname);
    client.pipe(server);
    server.on("data", (data) => this.mute || client.write(data));
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        client.destroy();
        server.destroy();
        this.#sockets.delete(socket);
      });
    }
  }
}
