/** Returns a new ticket, which opens one socket; null where none is needed. */
export type TicketSource = () => Promise<string | null>;

/** Returns an API key. Throws for a text that no header can carry; the error does not show it. */
export function checkedKey(key: string): string {
  if (!/^[!-~]+$/.test(key))
    throw new TypeError("The API key has a space, a line end or another character that no key has");
  return key;
}

/** Returns the address of a socket with a ticket, if there is one. */
export const addressWith = (ticket: string | null, address: string): string =>
  ticket === null ? address : `${address}${address.includes("?") ? "&" : "?"}ticket=${encodeURIComponent(ticket)}`;
