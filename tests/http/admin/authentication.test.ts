import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../../core/errors.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import {
  createAdminAuthentication,
  getNetworkPrefix,
} from "../../../server/http/admin/authentication.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { sendRaw, parseStatus } from "../../support/network/raw-http.ts";

const TOKEN = "a-token-of-an-administrator";

const countEqual = (values: readonly unknown[], expected: unknown) =>
  values.filter((value) => value === expected).length;

describe("/admin", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService({ ADMIN_TOKEN: TOKEN });
  });
  afterEach(() => service.close());

  /** Asks from an address of this machine, and gives the answer as it came. */
  const askFrom = (address: string, token: string) =>
    sendRaw(
      service.address,
      `GET /admin/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
        "Connection: close\r\n\r\n",
      address,
    );
  const statusFrom = async (address: string, token: string) =>
    parseStatus(await askFrom(address, token));
  const guess = (times: number, address = "127.0.0.1") =>
    Promise.all(Array.from({ length: times }, (_, nth) => statusFrom(address, `wrong-${nth}`)));

  test("429 after 5 wrong tokens a minute from one address, also to the right token", async () => {
    const statuses = await guess(40);
    expect([countEqual(statuses, 401), countEqual(statuses, 429)]).toEqual([5, 35]);
    const refused = await askFrom("127.0.0.1", TOKEN);
    expect(parseStatus(refused)).toBe(429);
    expect(refused).toMatch(/^retry-after: 12\r$/im);
    expect(refused).toContain("too many wrong tokens from your address");
    service.clock.now += MINUTE_MS;
    expect(await statusFrom("127.0.0.1", TOKEN)).toBe(200);
  });

  test("the right token from another address is accepted meanwhile", async () => {
    await guess(40);
    expect(await statusFrom("127.0.0.2", TOKEN)).toBe(200);
  });

  test("401 to a wrong token comes half a second late, to a missing one at once", async () => {
    const started = performance.now();
    expect(await statusFrom("127.0.0.1", "wrong")).toBe(401);
    expect(performance.now() - started).toBeGreaterThan(450);
    for (let nth = 0; nth < 20; nth++)
      expect((await service.send("/admin/accounts")).status).toBe(401);
    expect(await statusFrom("127.0.0.1", TOKEN)).toBe(200);
  });
});

describe("createAdminAuthentication()", () => {
  let now = 0;
  const create = () => {
    const authenticate = createAdminAuthentication({
      token: TOKEN,
      getAddress: ({ headers }) => headers.get("x-address") ?? "",
      now: () => now,
    });
    /** What a request is refused with, if it is. */
    return async (address: string, token: string): Promise<string | undefined> => {
      const headers = { "x-address": address, authorization: `Bearer ${token}` };
      try {
        await authenticate(new Request("http://localhost/admin/accounts", { headers }), {});
      } catch (error) {
        return error instanceof DomainError ? error.code : String(error);
      }
      return undefined;
    };
  };

  test("compares 300 wrong tokens a minute from all addresses", async () => {
    const from = create();
    expect(await from("192.0.2.1", TOKEN)).toBeUndefined();
    const refusals = await Promise.all(
      Array.from({ length: 2000 }, (_, nth) => from(`198.51.${nth >> 8}.${nth & 255}`, "wrong")),
    );
    expect(countEqual(refusals, "Invalid API Key")).toBe(300);
    expect(countEqual(refusals, "Too Many Requests")).toBe(1700);
    // A stranger is refused whatever the token is; who has sent the right one before is not.
    expect(await from("203.0.113.1", TOKEN)).toBe("Too Many Requests");
    expect(await from("192.0.2.1", TOKEN)).toBeUndefined();
    now += MINUTE_MS;
    expect(await from("203.0.113.1", TOKEN)).toBeUndefined();
  });

  test("takes the addresses of an IPv6 network for one", async () => {
    const from = create();
    const refusals = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => from(`2001:db8::${nth}`, "wrong")),
    );
    expect(countEqual(refusals, "Invalid API Key")).toBe(5);
    expect(await from("2001:db8:0:1::1", TOKEN)).toBeUndefined();
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::1", "0:0:0:0"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["fe80::1:2:3:4", "fe80:0:0:0"],
])("networkOf(%j) is %j", (address, network) => {
  expect(getNetworkPrefix(address)).toBe(network);
});
