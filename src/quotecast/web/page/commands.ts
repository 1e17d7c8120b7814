/** An action that the palette offers; `title` is in the reader's language. */
export interface Command {
  readonly id: string;
  readonly title: () => string;
  readonly run: () => unknown;
}

const sources: (() => readonly Command[])[] = [];

/** Adds commands to the palette. It calls the source whenever it opens, so that a list may depend on the session. */
export function registerCommands(source: () => readonly Command[]): void {
  sources.push(source);
}

export const registeredCommands = (): Command[] => sources.flatMap((source) => source());
