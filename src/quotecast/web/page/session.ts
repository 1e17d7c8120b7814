import type { Session } from "../client/index.ts";
import { stored } from "./stored.ts";

/** Who is logged in; null for nobody. */
export const session = stored<Session | null>("session", null);
