import type { Session } from "../client/index.ts";
import { isRecord, isText, shared } from "./stored.ts";

const isSession = (value: unknown): value is Session =>
  isRecord(value) &&
  isText(value.token) &&
  isRecord(value.user) &&
  ["id", "name", "email"].every((field) => isText((value.user as Session["user"])[field as "id"]));

/** Who is logged in, in every window of this browser; null for nobody. */
export const session = shared<Session | null>("session", null, (value): value is Session | null => isSession(value));
