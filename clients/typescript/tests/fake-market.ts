/** A client of a market of pairs without a service: the test sends the frames. No module of Node: browsers run it, too. */
import { Client } from "../src/index.ts";
import { CaseSocket } from "./case-socket.ts";
import { type Answers, FakeRoutes } from "./fake-routes.ts";

const FRAME = { feed: "crypto", epoch: "e" };
const WELCOME = { type: "welcome", feeds: { crypto: { epoch: "e", seq: 1 } }, heartbeatMs: 15_000, limits: {} };

export const quote = (ticker: string, price: number) => ({ type: "crypto_quote", ticker, price });
export const snapshot = (seq: number, reason: string, ...data: object[]) => ({
  ...{ ...FRAME, type: "snapshot", seq, reason, data },
});
export const update = (seq: number, data: object[], removed: string[] = []) => ({
  ...{ ...FRAME, type: "update", seq, data, removed },
});
export const bars = (fields: object) => ({ ...FRAME, type: "bars", seq: 1, interval: "1m", ...fields });

export class FakeMarket {
  readonly sockets: CaseSocket[] = [];
  readonly client: Client;

  constructor(answers: Answers = {}) {
    const { sockets } = this;
    const Socket = class extends CaseSocket {
      constructor() {
        super();
        sockets.push(this);
      }
    };
    this.client = new Client("http://localhost", {
      ...{ fetch: new FakeRoutes(answers).fetch, retries: 0, WebSocket: Socket },
    });
  }

  /** Returns the socket that the client opens, after the server's greeting. */
  async socket(number = 0): Promise<CaseSocket> {
    await until(() => this.sockets.length > number);
    const socket = this.sockets[number] as CaseSocket;
    socket.receive(WELCOME);
    return socket;
  }
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
