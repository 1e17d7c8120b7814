import type { FeedName } from "../src/index.ts";

/** A socket to the fake server of a case. */
export class CaseSocket {
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  isClosed = false;
  /** Whether the server has sent a frame. */
  isGreeted = false;
  readonly commands: Record<string, unknown>[] = [];

  send(message: string): void {
    this.commands.push(JSON.parse(message));
  }

  close(): void {
    this.isClosed = true;
  }

  receive(frame: object): void {
    this.isGreeted = true;
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  /** Returns the id of the last command of a feed. */
  lastId(name: FeedName): unknown {
    return this.commands.filter(({ feed }) => feed === name).at(-1)?.id;
  }
}
