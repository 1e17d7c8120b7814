import type { Problem } from "./rest-types.ts";

/** An error answer of the service; `message` is its `detail`. */
export class ApiError extends Error {
  override readonly name: string = "ApiError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail);
  }

  /** Names the error for programs, such as `symbol_not_found`; undefined for an answer of a proxy. */
  get code(): Problem["code"] {
    return this.problem.code;
  }

  /** Names the request in a report. */
  get requestId(): string | undefined {
    return this.problem.request_id;
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

/** The service did not answer a request, nor its repetitions; `cause` is the last failure. */
export class ConnectionFailed extends Error {
  override readonly name = "ConnectionFailed";
}

/** The service refuses a stream for good: connecting again does not help. */
export class StreamRefused extends Error {
  override readonly name = "StreamRefused";

  constructor(
    message: string,
    /**
     * A close code, such as 4401 (the API key or its ticket is not valid) and 4403 (the key's plan or scope excludes the
     * stream), the code of an `error` frame, or the HTTP status of a refused ticket.
     */
    readonly code: number,
  ) {
    super(message);
  }
}

/** No feed has any of the symbols; `proposals` says what some of them may mean. */
export class UnknownSymbols extends Error {
  override readonly name = "UnknownSymbols";

  constructor(
    readonly symbols: readonly string[],
    readonly proposals: Readonly<Record<string, string>> = {},
  ) {
    const named = Object.entries(proposals).map(([symbol, proposal]) => `${symbol}: ${proposal}`);
    super([`no feed has ${symbols.join(", ")}`, ...named].join("; "));
  }
}
