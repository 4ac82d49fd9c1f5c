/** The host of the service in links, and for requests from the same machine. */

/** For each address that means all addresses of the machine, an address that links can use. */
const LOOPBACK_ADDRESSES: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "::": "::1",
};

export function toLinkHost(hostname = "127.0.0.1"): string {
  const address = LOOPBACK_ADDRESSES[hostname] ?? hostname;
  return address.includes(":") ? `[${address}]` : address;
}
