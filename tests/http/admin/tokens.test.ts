/** Named tokens of administrators. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../core/time.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const createToken = async (name: string): Promise<string> =>
  Object(await service.admin("POST", "tokens", { name })).token;

const sendTo = (to: Pick<TestService, "address">, path: string, token: string) =>
  fetch(`${to.address}/admin/${path}`, { headers: { authorization: `Bearer ${token}` } });

const readStatus = async (token: string, path = "accounts") =>
  (await sendTo(service, path, token)).status;

describe("/admin with named tokens", () => {
  test("is an unknown path while there is no token, also for OPTIONS and a revoked token", async () => {
    const readUnknown = async () => {
      const send = (method: string) => service.send("/admin/accounts", { method });
      const responses = await Promise.all(["GET", "OPTIONS", "PUT"].map(send));
      return responses.map(({ status }) => status);
    };
    expect(await readUnknown()).toEqual([404, 404, 404]);
    const token = await createToken("billing");
    expect(await readUnknown()).toEqual([401, 204, 401]);
    expect(await readStatus(token)).toBe(200);
    await service.admin("DELETE", "tokens", { token: "billing" });
    expect(await readUnknown()).toEqual([404, 404, 404]);
    expect(await readStatus(token)).toBe(404);
  });

  test("takes each token until it is revoked, and ADMIN_TOKEN beside them", async () => {
    const both = await startTestService({ ADMIN_TOKEN });
    try {
      const create = async (name: string) =>
        String(Object(await both.admin("POST", "tokens", { name })).token);
      const [billing, ann] = [await create("billing"), await create("ann")];
      for (const token of [billing, ann, ADMIN_TOKEN]) {
        expect((await sendTo(both, "accounts", token)).status).toBe(200);
      }
      await both.admin("DELETE", "tokens", { token: "billing" });
      expect((await sendTo(both, "accounts", billing)).status).toBe(401);
      expect((await sendTo(both, "accounts", ann)).status).toBe(200);
    } finally {
      await both.close();
    }
  });

  test("takes no hash and no beginning of a token, and no API key", async () => {
    const token = await createToken("billing");
    const hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    for (const text of [hash, token.slice(0, -1), service.key])
      expect(await readStatus(text)).toBe(401);
  });

  test("429 after 5 wrong tokens a minute, also to a valid named token", async () => {
    const token = await createToken("billing");
    const guesses = Array.from({ length: 20 }, (_, nth) => readStatus(`cma_wrong-${nth}`));
    const statuses = await Promise.all(guesses);
    expect(statuses.filter((status) => status === 401).length).toBe(5);
    expect(await readStatus(token)).toBe(429);
    service.clock.now += MINUTE_MS;
    expect(await readStatus(token)).toBe(200);
  });

  test("401 to revoked tokens, which are no guesses: others from that address are valid", async () => {
    const valid = await createToken("valid");
    const revoked: string[] = [];
    for (let index = 0; index < 8; index++) {
      revoked.push(await createToken(`t${index}`));
      await service.admin("DELETE", "tokens", { token: `t${index}` });
    }
    for (let round = 0; round < 3; round++) {
      const statuses = await Promise.all(revoked.map((token) => readStatus(token)));
      expect(new Set(statuses)).toEqual(new Set([401]));
    }
    expect(await readStatus(valid)).toBe(200);
    await Promise.all(Array.from({ length: 5 }, (_, nth) => readStatus(`cma_wrong-${nth}`)));
    expect(await readStatus(valid)).toBe(429);
  });

  test("takes a token no more after it was revoked by its text", async () => {
    const token = await createToken("billing");
    await createToken("ann");
    expect(await readStatus(token)).toBe(200);
    expect(await service.admin("DELETE", "tokens", { token })).toMatchObject({
      id: 1,
      name: "billing",
    });
    expect(await readStatus(token)).toBe(401);
    await expect(service.admin("DELETE", "tokens", { token })).rejects.toThrow(
      `There is no valid token ${token.slice(0, 10)}…`,
    );
  });

  test("has no path for tokens: none can make another", async () => {
    const token = await createToken("billing");
    expect(await readStatus(token, "tokens")).toBe(404);
    expect(await readStatus(token, "owner")).toBe(404);
  });
});

describe("the owner's /admin/tokens", () => {
  test("shows a token once, and the time of its last use to the minute", async () => {
    const token = await createToken("billing");
    expect(token).toMatch(/^cma_[A-Za-z0-9_-]{43}$/);
    const readList = async () => Object(await service.admin("GET", "tokens"))[0];
    const listed = {
      id: 1,
      name: "billing",
      begins_with: token.slice(0, 10),
      created_at: "2026-11-20T12:00:00.000Z",
      last_used_at: null,
      revoked_at: null,
    };
    expect(await readList()).toEqual(listed);
    await readStatus(token);
    service.clock.now += 1000;
    await readStatus(token);
    expect((await readList()).last_used_at).toBe("2026-11-20T12:00:00.000Z");
    service.clock.now += MINUTE_MS;
    await readStatus(token);
    expect((await readList()).last_used_at).toBe("2026-11-20T12:01:01.000Z");
    expect(JSON.stringify(await service.admin("GET", "tokens"))).not.toContain(token);
  });

  test.each([0, 2 ** 53, null, true])(
    "rejects the revocation of %j with what is allowed",
    async (token) => {
      await expect(service.admin("DELETE", "tokens", { token })).rejects.toThrow(
        `token must be a whole number from 1 to 9007199254740991, or a text, got ${token}`,
      );
    },
  );

  test.each(["", "7", "a b", "ä", "-a", "a".repeat(65), "ADMIN_TOKEN", "a\tb", "cm_a", "cma_a"])(
    "rejects the name %j",
    async (name) => {
      await expect(service.admin("POST", "tokens", { name })).rejects.toThrow(
        "name must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter",
      );
    },
  );
});
