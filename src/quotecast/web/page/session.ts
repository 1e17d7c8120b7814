import { computed, effect, signal } from "@preact/signals";
import type { Session } from "quotecast-client";
import { isRecord, isText, sharedSignal } from "./stored.ts";

const isSession = (value: unknown): value is Session =>
  isRecord(value) &&
  isText(value.token) &&
  isRecord(value.user) &&
  ["id", "name", "email"].every((field) => isText((value.user as Session["user"])[field as "id"]));

/** The session of every window of this browser; null while nobody is logged in. */
export const session = sharedSignal<Session | null>("session", null, (value): value is Session | null =>
  isSession(value),
);

/** The token that the service refused last. */
const refused = signal("");
/** The user of each token that this page had: a request of one user is not repeated for another. */
const owners = new Map<string, string>();
session.subscribe((value) => value && owners.set(value.token, value.user.id));

/** Whether the session has ended while its reader works: a dialog asks for the password, and requests wait for it. */
export const isOver = computed(() => session.value !== null && session.value.token === refused.value);
/** The token of a session that has not ended. */
export const validToken = computed(() => (isOver.value ? null : (session.value?.token ?? null)));

/** The token of the last visit, until the service accepts it: before, the reader has nothing to lose. */
let unproved = session.value?.token;

/** Notes that the service accepted the token of the last visit. */
export function acceptToken(): void {
  unproved = undefined;
}

/** Notes that the service refused a token; returns whether that ended the session of the last visit. */
export function refuseToken(token: string): boolean {
  if (session.value?.token !== token) return false;
  const isOld = token === unproved;
  if (isOld) session.value = null;
  else refused.value = token;
  return isOld;
}

/** Waits until the user of a void token is logged in again; returns false once nobody or another user is. */
export function loggedInAgain(token: string): Promise<boolean> {
  return new Promise((settle) => {
    const end = effect(() => {
      if (isOver.value) return;
      settle(session.value !== null && session.value.user.id === owners.get(token));
      queueMicrotask(() => end());
    });
  });
}
