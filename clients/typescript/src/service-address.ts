/** Returns the address of a service without a slash at its end. Throws TypeError for one that would only fail later. */
export function checkedAddress(address: string): string {
  const [scheme = "", rest] = address.split("://");
  if (!["http", "https"].includes(scheme.toLowerCase())) {
    throw new TypeError(`The address ${address} must begin with http:// or https://, as in http://${rest ?? address}`);
  }
  const bare = new URL(address).href.replace(/\/+$/, "");
  if (bare.endsWith("/api")) {
    throw new TypeError(`The address ${address} must end before /api: ${bare.slice(0, -"/api".length)}`);
  }
  return bare;
}
