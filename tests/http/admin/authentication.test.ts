/** Authentication of administrators. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../../core/errors.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import { createAdminAuthentication } from "../../../server/http/admin/authentication.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { sendRaw, parseStatus } from "../../support/network/raw-http.ts";

const TOKEN = "a-token-of-an-administrator";

const countEqual = (values: readonly unknown[], expected: unknown) =>
  values.filter((value) => value === expected).length;

describe("GET /admin/accounts", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService({ ADMIN_TOKEN: TOKEN });
  });
  afterEach(() => service.close());

  /** Sends a request from an address of this machine, and returns the raw response. */
  const sendFrom = (address: string, token: string) =>
    sendRaw(
      service.address,
      `GET /admin/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
        "Connection: close\r\n\r\n",
      address,
    );
  const fetchStatusFrom = async (address: string, token: string) =>
    parseStatus(await sendFrom(address, token));
  const guessTokens = (times: number, address = "127.0.0.1") =>
    Promise.all(
      Array.from({ length: times }, (_, nth) => fetchStatusFrom(address, `wrong-${nth}`)),
    );

  test("429 after 5 wrong tokens a minute from one address, also to the right token", async () => {
    const statuses = await guessTokens(40);
    expect([countEqual(statuses, 401), countEqual(statuses, 429)]).toEqual([5, 35]);
    const rejected = await sendFrom("127.0.0.1", TOKEN);
    expect(parseStatus(rejected)).toBe(429);
    expect(rejected).toMatch(/^retry-after: 12\r$/im);
    expect(rejected).toContain("too many wrong tokens from your address");
    service.clock.now += MINUTE_MS;
    expect(await fetchStatusFrom("127.0.0.1", TOKEN)).toBe(200);
  });

  test("200 to the right token from another address meanwhile", async () => {
    await guessTokens(40);
    expect(await fetchStatusFrom("127.0.0.2", TOKEN)).toBe(200);
  });

  test("401 half a second late to a wrong token, at once to a missing one", async () => {
    const started = performance.now();
    expect(await fetchStatusFrom("127.0.0.1", "wrong")).toBe(401);
    expect(performance.now() - started).toBeGreaterThan(450);
    for (let nth = 0; nth < 20; nth++)
      expect((await service.send("/admin/accounts")).status).toBe(401);
    expect(await fetchStatusFrom("127.0.0.1", TOKEN)).toBe(200);
  });
});

const NO_TOKENS = {
  isCandidate: () => false,
  listCached: async () => [],
  recordUse: async () => undefined,
};

describe("createAdminAuthentication()", () => {
  let now = 0;
  const create = () => {
    const { authenticate } = createAdminAuthentication({
      token: TOKEN,
      namedTokens: NO_TOKENS,
      getAddress: ({ headers }) => headers.get("x-address") ?? "",
      now: () => now,
    });
    /** The code of the error with which a request is rejected. */
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
    const authenticateFrom = create();
    expect(await authenticateFrom("192.0.2.1", TOKEN)).toBeUndefined();
    const results = await Promise.all(
      Array.from({ length: 2000 }, (_, nth) =>
        authenticateFrom(`198.51.${nth >> 8}.${nth & 255}`, `wrong-${nth}`),
      ),
    );
    expect(countEqual(results, "Invalid API Key")).toBe(300);
    expect(countEqual(results, "Too Many Requests")).toBe(1700);
    // A new address is rejected with any token; one that sent the right token before is not.
    expect(await authenticateFrom("203.0.113.1", TOKEN)).toBe("Too Many Requests");
    expect(await authenticateFrom("192.0.2.1", TOKEN)).toBeUndefined();
    now += MINUTE_MS;
    expect(await authenticateFrom("203.0.113.1", TOKEN)).toBeUndefined();
  });

  test("counts a wrong token once that one address sends again, as an old program does", async () => {
    const authenticateFrom = create();
    for (const token of ["old-1", "old-2", "old-3", "old-4"]) {
      const results = await Promise.all(
        Array.from({ length: 20 }, () => authenticateFrom("192.0.2.1", token)),
      );
      expect(countEqual(results, "Invalid API Key")).toBe(20);
    }
    expect(await authenticateFrom("192.0.2.1", TOKEN)).toBeUndefined();
    // A fifth one, and the limit is that of guesses again.
    expect(await authenticateFrom("192.0.2.1", "old-5")).toBe("Invalid API Key");
    expect(await authenticateFrom("192.0.2.1", TOKEN)).toBe("Too Many Requests");
  });

  test("counts the addresses of an IPv6 network together", async () => {
    const authenticateFrom = create();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => authenticateFrom(`2001:db8::${nth}`, `wrong-${nth}`)),
    );
    expect(countEqual(results, "Invalid API Key")).toBe(5);
    expect(await authenticateFrom("2001:db8:0:1::1", TOKEN)).toBeUndefined();
  });

  test.concurrent.each([
    ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"],
    ["::1", "0:0:0:0:1:2:3:4", "0:0:0:1::1"],
    ["2001:db8::1", "2001:db8:0:0:9::", "2001:db8:0:1::1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1::2"],
    ["fe80::1:2:3:4", "fe80::", "fe80:1::"],
  ])("counts %s and %s together, but not %s", async (address, same, other) => {
    const authenticateFrom = create();
    const guesses = Array.from({ length: 5 }, (_, nth) => authenticateFrom(address, `no-${nth}`));
    await Promise.all(guesses);
    expect(await authenticateFrom(same, TOKEN)).toBe("Too Many Requests");
    expect(await authenticateFrom(other, TOKEN)).toBeUndefined();
  });
});
