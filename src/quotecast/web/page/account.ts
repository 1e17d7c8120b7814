import type { Session } from "quotecast-client";
import { rest, showError } from "./service.ts";
import { session } from "./session.ts";
import { openAccount } from "./watchlists.ts";

export { loadWatched, toggleWatched, watched } from "./watchlists.ts";

/** Stores a session: every window of this browser is logged in. */
export function logIn(entered: Session, isNew: boolean): void {
  openAccount(entered.user.id, isNew);
  session.value = entered;
}

/** Logs out in every window of this browser; the service makes the token void. */
export function logOut(): void {
  leave(rest.call("DELETE /api/auth/sessions/{session_id}", { path: { session_id: "current" } }));
}

/** Logs out in every browser and program of the user. */
export function logOutEverywhere(): void {
  leave(rest.call("PATCH /api/auth/profile", { body: { end_sessions: true } }));
}

/** Forgets the session at once; an error says that the service has not ended it. */
function leave(ended: Promise<unknown>): void {
  ended.catch((error) => showError(error, "stillValid"));
  forgetSession();
}

/** Goes on as a guest, in every window of this browser. */
export function forgetSession(): void {
  // Alerts of this user must not reach the next one.
  void import("./alerts/device.ts").then(({ forgetDevice }) => forgetDevice());
  session.value = null;
}
