import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../server/config.ts";
import { createClientAddressFinder } from "../../../server/http/proxy/client-address.ts";

const find = createClientAddressFinder(
  readConfig({ TRUSTED_PROXIES: "127.0.0.1,::1,10.0.0.0/8,fd00::/8" }).trustedProxies,
);

const findOf = (peer: string, ...lines: readonly string[]) =>
  find(peer, new Headers(lines.map((line) => ["X-Forwarded-For", line])));

describe("createClientAddressFinder()", () => {
  test.each([
    ["203.0.113.7", [], "203.0.113.7"],
    ["203.0.113.7", ["198.51.100.1"], "203.0.113.7"],
    ["::ffff:203.0.113.7", ["198.51.100.1"], "::ffff:203.0.113.7"],
    ["unknown", ["198.51.100.1"], "unknown"],
  ])("ignores the header of %s, which is no trusted proxy", (peer, lines, expected) => {
    expect(findOf(peer, ...lines)).toBe(expected);
  });

  test.each([
    ["127.0.0.1", ["198.51.100.1"], "198.51.100.1"],
    ["::ffff:127.0.0.1", ["198.51.100.1"], "198.51.100.1"],
    ["::1", ["2001:db8::7"], "2001:db8::7"],
    ["127.0.0.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"],
    ["127.0.0.1", ["1.1.1.1, 198.51.100.1, 10.0.0.5"], "198.51.100.1"],
    ["127.0.0.1", ["1.1.1.1,198.51.100.1,fd00::1 , 10.0.0.5"], "198.51.100.1"],
    ["127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"],
    ["127.0.0.1", ["[2001:db8::7]:4711, [fd00::1]"], "2001:db8::7"],
    ["127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"],
    ["127.0.0.1", ["10.0.0.7"], "10.0.0.7"],
    ["127.0.0.1", ["10.0.0.7, 10.0.0.8"], "10.0.0.7"],
  ])("from %s with %p is the last address of no trusted proxy", (peer, lines, expected) => {
    expect(findOf(peer, ...lines)).toBe(expected);
  });

  test.each([
    [["1.1.1.1", "198.51.100.1"], "198.51.100.1"],
    [["198.51.100.1", "10.0.0.5"], "198.51.100.1"],
  ])("takes repeated headers %p as one list", (lines, expected) => {
    expect(findOf("127.0.0.1", ...lines)).toBe(expected);
  });

  test.each([
    "",
    " ",
    ",",
    "unknown",
    "_hidden",
    "1.1.1.1, x",
    "0x7f.1",
    "1.1.1.1,",
    "999.1.1.1",
    "'",
  ])("takes the address of the proxy if the header is %p", (line) => {
    expect(findOf("127.0.0.1", line)).toBe("127.0.0.1");
    expect(findOf("127.0.0.1", `1.1.1.1, ${line}, 10.0.0.5`)).toBe("10.0.0.5");
  });

  test("reads a long list only as far as proxies wrote it", () => {
    const long = Array.from({ length: 2000 }, () => "1.1.1.1").join();
    expect(findOf("127.0.0.1", `${long}, 198.51.100.1, 10.0.0.5`)).toBe("198.51.100.1");
    expect(findOf("127.0.0.1", Array.from({ length: 2000 }, () => "10.0.0.5").join())).toBe(
      "10.0.0.5",
    );
  });

  test("trusts no proxy by default", () => {
    const findByDefault = createClientAddressFinder(readConfig({}).trustedProxies);
    const headers = new Headers({ "x-forwarded-for": "198.51.100.1" });
    expect(findByDefault("127.0.0.1", headers)).toBe("127.0.0.1");
  });
});
