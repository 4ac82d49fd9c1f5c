/** Finds the address of a client whose requests come through trusted proxies. */
import { isInNetworks, parseIpAddress, type Network } from "../../settings.ts";

/** Tells the address of a client from that of the connection and the headers of the request. */
export type FindClientAddress = (peer: string, headers: Pick<Headers, "get">) => string;

/**
 * Creates a function that finds the address of a client. Each proxy appends the address of its own
 * client to `X-Forwarded-For`. So the list is read from its end, and only as far as trusted proxies
 * wrote it: what is before the first other address was written by whoever has that address.
 */
export function createClientAddressFinder(trustedProxies: readonly Network[]): FindClientAddress {
  return (peer, headers) => {
    const forwarded = headers.get("x-forwarded-for") ?? "";
    let address = peer;
    let end = forwarded.length;
    while (end > 0 && isInNetworks(trustedProxies, address)) {
      const start = forwarded.lastIndexOf(",", end - 1) + 1;
      const client = readAddress(forwarded.slice(start, end));
      if (client === undefined) break;
      address = client;
      end = start - 1;
    }
    return address;
  };
}

/** Reads `1.2.3.4`, `::1`, `1.2.3.4:80` or `[::1]:80`. Some proxies also tell the port. */
function readAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed) ?? [];
  const address = bracketed ?? trimmed.replace(/^([\d.]+):\d+$/, "$1");
  return parseIpAddress(address)?.toString();
}
