import { ApiError } from "./errors.ts";
import type { Rest } from "./rest.ts";

/** Statuses of a void token, and of an edge or an older service: their feeds are those of anonymous clients. */
const NO_USER = new Set([401, 404]);

/** Returns a ticket of the user whose token goes with requests; null if users have the anonymous plan. */
export async function userTicket(rest: Rest): Promise<string | null> {
  try {
    const { ticket } = await rest.call("POST /api/auth/ticket");
    return ticket;
  } catch (error) {
    if (error instanceof ApiError && NO_USER.has(error.status)) return null;
    throw error;
  }
}
