/** The answer to a text; `error` is null unless there was none. */
export interface Found<T> {
  readonly text: string;
  readonly results: readonly T[];
  readonly error: unknown;
}

/** Milliseconds without another letter after which a text is looked up. */
const AFTER_MS = 100;

/** Looks up what the reader types. Reports the answer to the newest text only, whatever the order of answers. */
export class Finder<T> {
  #text = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ask: (text: string) => Promise<readonly T[]>,
    private readonly onFound: (found: Found<T>) => unknown,
  ) {}

  /** Looks a text up soon; the empty one has no results. */
  seek(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#cancel();
    if (text) this.#timer = setTimeout(() => this.again(), AFTER_MS);
    else this.onFound({ text, results: [], error: null });
  }

  /** Looks the text up now if that has not begun. */
  hurry(): void {
    if (this.#timer !== undefined) this.again();
  }

  /** Looks the text up now. */
  again(): void {
    this.#cancel();
    if (this.#text) void this.#find(this.#text);
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #find(text: string): Promise<void> {
    const found = await this.ask(text).then(
      (results) => ({ text, results, error: null }),
      (error: unknown) => ({ text, results: [], error }),
    );
    if (text === this.#text) this.onFound(found);
  }
}
