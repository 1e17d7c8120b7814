import type { Operations, Problem } from "./rest-types.ts";

type Name = keyof Operations;
type Parameters<N extends Name> = Omit<Operations[N], "answer">;
type Given<N extends Name> = object extends Parameters<N> ? [Parameters<N>?] : [Parameters<N>];

/** Rate limit of one path, from the headers of an answer. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the next request is allowed. */
  readonly reset: number;
}

/** An error answer of the service; `message` is its `detail`. */
export class ApiError extends Error {
  override readonly name: string = "ApiError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail);
  }
}

/** The service refused a path for too many requests; `retryAfter` is in seconds. */
export class RateLimited extends ApiError {
  override readonly name = "RateLimited";

  constructor(
    problem: Problem,
    readonly retryAfter: number,
  ) {
    super(429, problem);
  }
}

export interface RestOptions {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  /** Returns the token of the session; null without one. */
  readonly token?: () => string | null;
  /** Called after every answer with rate limit headers. */
  readonly onLimit?: (limit: RateLimit) => void;
  /** Called with a token that the service refused as expired or void. */
  readonly onVoidToken?: (token: string) => void;
  readonly fetch?: typeof fetch;
}

interface Sent {
  readonly path?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

/** The service's routes, named as in its OpenAPI document: `rest.call("GET /api/market/movers")`. */
export class Rest {
  /** Paths over their limit and when (Unix milliseconds) they allow a request; earlier requests are not sent. */
  readonly #busy = new Map<string, number>();

  constructor(private readonly options: RestOptions) {}

  /** Returns the body of a route's answer. Throws ApiError, RateLimited, or without an answer fetch's TypeError. */
  async call<N extends Name>(name: N, ...[given]: Given<N>): Promise<Operations[N]["answer"]> {
    const [method, template] = name.split(" ") as [string, string];
    const { path = {}, query = {}, body } = (given ?? {}) as Sent;
    const filled = template.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(path[field] ?? ""));
    this.#checkBusy(filled);
    const token = this.options.token?.() ?? null;
    const response = await (this.options.fetch ?? fetch)(
      this.options.address + filled + queryString(query),
      request(method, body, token),
    );
    this.#reportLimit(response.headers);
    if (response.status === 401 && token) this.options.onVoidToken?.(token);
    if (!response.ok) throw await this.#toError(filled, response);
    return (response.status === 204 ? null : await response.json()) as Operations[N]["answer"];
  }

  #checkBusy(path: string): void {
    const left = ((this.#busy.get(path) ?? 0) - Date.now()) / 1000;
    if (left > 0) throw new RateLimited({ detail: "Too Many Requests" }, left);
    this.#busy.delete(path);
  }

  #reportLimit(headers: Headers): void {
    const remaining = headers.get("X-RateLimit-Remaining");
    if (remaining === null) return;
    const number = (name: string) => Number(headers.get(`X-RateLimit-${name}`) ?? 0);
    this.options.onLimit?.({ limit: number("Limit"), remaining: Number(remaining), reset: number("Reset") });
  }

  async #toError(path: string, response: Response): Promise<ApiError> {
    const problem = await response.json().catch(() => ({ detail: response.statusText }));
    if (response.status !== 429) return new ApiError(response.status, problem);
    const seconds = Number(response.headers.get("Retry-After") ?? 1);
    this.#busy.set(path, Date.now() + seconds * 1000);
    return new RateLimited(problem, seconds);
  }
}

function request(method: string, body: unknown, token: string | null): RequestInit {
  const headers: Record<string, string> = {
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  return { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
}

function queryString(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}
