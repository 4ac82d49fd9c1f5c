/** The addresses that pictures may be fetched from. */
import { expect, test } from "bun:test";
import { BlockList } from "node:net";
import * as fc from "fast-check";
import { isPublicAddress } from "../../server/pictures/public-address.ts";

const PRIVATE = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.0.0.1",
  "::ffff:169.254.169.254",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b:1::a00:1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
];

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.167.255.255",
  "::ffff:8.8.8.8",
  "2001:4860:4860::8888",
  "2a00:1450:4001:82a::2003",
];

/** What only the parser of URLs may read as an address. */
const NO_ADDRESSES = [
  "",
  "localhost",
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
  "127.1",
  "[::1]",
  " ::1",
];

test.each(PRIVATE)("isPublicAddress(%j) is false", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(PUBLIC)("isPublicAddress(%j) is true", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(NO_ADDRESSES)("isPublicAddress(%j) is false: it is no address", (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test.each([
  ["2130706433", "127.0.0.1"],
  ["0x7f.1", "127.0.0.1"],
  ["0177.0.0.1", "127.0.0.1"],
  ["127.1", "127.0.0.1"],
  ["0xa9fea9fe", "169.254.169.254"],
  ["①②⑦.⓪.⓪.①", "127.0.0.1"],
  ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
])("a URL writes the host %j as %j", (host, written) => {
  expect(new URL(`https://${host}/`).hostname).toBe(written);
});

/** The special-purpose registries of IANA, as a list of their own. */
const special = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  special.addSubnet(address, prefix, "ipv4");
}

/** Any address, and as often one beside the edge of a special range. */
const anyIpv4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffff_ffff }),
  fc
    .tuple(
      fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224),
      fc.constantFrom(0, 15, 16, 18, 31, 32, 51, 64, 88, 127, 128, 168, 254),
      fc.constantFrom(0, 1, 2, 99, 100, 113, 255),
      fc.constantFrom(0, 1, 255),
    )
    .map(([a, b, c, d]) => ((a * 256 + b) * 256 + c) * 256 + d),
);

const writeIpv4 = (value: number) =>
  [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join(".");

test("isPublicAddress() allows no IPv4 address of a special range, in any spelling", () => {
  fc.assert(
    fc.property(anyIpv4, (value) => {
      const address = writeIpv4(value);
      const isSpecial = special.check(address, "ipv4");
      const isPublic = isPublicAddress(address);
      expect([address, isSpecial && isPublic]).toEqual([address, false]);
      const hex = value.toString(16).padStart(8, "0");
      const mapped = `::ffff:${hex.slice(0, 4)}:${hex.slice(4)}`;
      expect([mapped, isPublicAddress(mapped)]).toEqual([mapped, isPublic]);
      const host = new URL(`https://${value}/`).hostname;
      expect(host).toBe(address);
    }),
    { numRuns: 20_000 },
  );
});

test("isPublicAddress() allows IPv4 addresses that are in no special range", () => {
  // Beside the registries, the library refuses two anycast ranges.
  const refused = [/^192\.88\.99\./, /^192\.31\.196\./, /^192\.52\.193\./, /^192\.175\.48\./];
  fc.assert(
    fc.property(anyIpv4, (value) => {
      const address = writeIpv4(value);
      fc.pre(!special.check(address, "ipv4") && !refused.some((range) => range.test(address)));
      expect([address, isPublicAddress(address)]).toEqual([address, true]);
    }),
    { numRuns: 20_000 },
  );
});
