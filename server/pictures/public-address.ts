/** Tells whether an IP address is one of the public Internet, so that nothing inside is reached. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * All IPv6 addresses of the public Internet are in this range. Outside of it are addresses that
 * contain an IPv4 address, such as `::127.0.0.1`, which the library does not all know.
 */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** An address of IPv6 that stands for one of IPv4 is judged as that one. */
export function isPublicAddress(text: string): boolean {
  // The library also reads `0x7f.1`, which must come from no resolver.
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(PUBLIC_IPV6);
}
