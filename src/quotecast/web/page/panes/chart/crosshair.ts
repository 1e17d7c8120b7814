import { signal } from "@preact/signals";

/** The point of the reader on a chart: a time in Unix seconds; null for nowhere. The other charts show it, too. */
export const pointed = signal<{ readonly chart: object; readonly time: number } | null>(null);
