/** A service's routes without a service: answers by path, and the requests that came. */

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Answers of one path in turn, of which the last one repeats; an Error is a request without an answer. */
export type Answers = Record<string, readonly (FakeAnswer | Error)[]>;

const NOT_FOUND: FakeAnswer = { status: 404, body: { detail: "Symbol not found", code: "symbol_not_found" } };

export class FakeRoutes {
  readonly requests: Request[] = [];
  readonly #asked = new Map<string, number>();

  constructor(private readonly answers: Answers) {}

  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const path = decodeURIComponent(pathname + search);
    this.requests.push({ method: init?.method ?? "GET", path, headers: new Headers(init?.headers) });
    const answers = this.answers[path] ?? [NOT_FOUND];
    const count = this.#asked.get(path) ?? 0;
    this.#asked.set(path, count + 1);
    const answer = answers[Math.min(count, answers.length - 1)] as FakeAnswer | Error;
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, headers = {} } = answer;
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });
  };
}
