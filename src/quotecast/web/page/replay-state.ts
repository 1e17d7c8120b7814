import { computed, signal } from "@preact/signals";

import type { Kind } from "./layout.ts";

/** A replay of the workspace: from which moment (ISO 8601) and how many times as fast; a pause shows its moment. */
export interface Rewind {
  readonly at: string;
  readonly speed: number;
  readonly isPaused: boolean;
}

/** Null while the page is live. */
export const rewind = signal<Rewind | null>(null);
export const isReplay = computed(() => rewind.value !== null);
/** The moment of the last frame that names one, in Unix milliseconds, and when it came, of the page's timer. */
export const reached = signal({ at: 0, since: 0 });
/** The reason why nothing more comes, in the service's words; "" for the end of the recording, null while more comes. */
export const replayEnd = signal<string | null>(null);
/** Whether the service records its feeds; false until it has said so. */
export const isRecorded = signal(false);

/** Panes of quotes and bars, which have a past; the others show the present only. */
const OF_THE_PAST: ReadonlySet<Kind> = new Set(["watchlist", "chart", "heatmap", "crypto", "doviz", "screener"]);
export const hasPast = (kind: Kind): boolean => OF_THE_PAST.has(kind);

/** Returns the moment that the replay has reached, in Unix milliseconds. */
export function replayedMoment(): number {
  const { at, since } = reached.value;
  const { speed = 0, isPaused = true } = rewind.value ?? {};
  return isPaused || replayEnd.value !== null ? at : at + Math.max(0, performance.now() - since) * speed;
}
