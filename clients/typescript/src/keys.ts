/** Returns a new ticket, which opens one socket. */
export type TicketSource = () => Promise<string>;

/** Returns an API key. Throws for a text that no header can carry; the error does not show it. */
export function checkedKey(key: string): string {
  if (!/^[!-~]+$/.test(key))
    throw new TypeError("The API key has a space, a line end or another character that no key has");
  return key;
}

/** Returns the address of a socket with a ticket. */
export const addressWith = (ticket: string, address: string): string =>
  `${address}${address.includes("?") ? "&" : "?"}ticket=${encodeURIComponent(ticket)}`;
