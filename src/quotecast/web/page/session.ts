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
