import type { KeyShown, NewKey } from "quotecast-client";

type Times = Pick<KeyShown, "revoked_at" | "expires_at" | "previous_until">;
export type KeyState = "keyActive" | "keyExpired" | "keyExpiresAt" | "keyOldUntil" | "keyRevoked";

/** Returns what to say of a key at a moment, with the time of each; the first word is the state. */
export function statesOf({ revoked_at, expires_at, previous_until }: Times, now: number): [KeyState, string][] {
  if (revoked_at) return [["keyRevoked", revoked_at]];
  if (expires_at && Date.parse(expires_at) <= now) return [["keyExpired", expires_at]];
  const states: [KeyState, string][] = [["keyActive", ""]];
  if (expires_at) states.push(["keyExpiresAt", expires_at]);
  if (previous_until && Date.parse(previous_until) > now) states.push(["keyOldUntil", previous_until]);
  return states;
}

/** Returns whether a key can still be rotated or revoked. */
export const isUsable = (key: Times, now: number): boolean => statesOf(key, now)[0]?.[0] === "keyActive";

/** Returns the body that makes a key, of the fields of the form. The key works to the end of its last day. */
export function newKeyOf(fields: FormData): NewKey {
  const text = (name: string) => String(fields.get(name) ?? "").trim();
  const symbols = text("symbols").split(",");
  const day = text("expires");
  return {
    name: text("name"),
    scope: {
      feeds: fields.getAll("feeds") as ("market" | "crypto" | "doviz")[],
      symbols: symbols.map((each) => each.trim()).filter(Boolean),
    },
    expires_at: day ? new Date(`${day}T23:59:59`).toISOString() : null,
  };
}
