/** What operators do over HTTP: backups, the usage of accounts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN });
});
afterAll(() => service.close());

const sendRaw = (method: string, path: string, body?: object, { address } = service) =>
  fetch(`${address}/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });

const downloadBackup = (file: string) => sendRaw("GET", `backups/${file}`);

async function sendAdmin(method: string, path: string, body?: object, to = service) {
  const response = await sendRaw(method, path, body, to);
  return { status: response.status, body: Object(await response.json()) };
}

describe("POST /admin/backups", () => {
  test("201: copies the database into a private file of the folder, once for each name", async () => {
    const own = await startTestService({ ADMIN_TOKEN });
    const backUp = (request: object) => sendAdmin("POST", "backups", request, own);
    const { status, body } = await backUp({ file: "one.db" });
    const folder = join(own.folder, "backups");
    const { size, mode } = await stat(join(folder, "one.db"));
    expect({ status, body }).toEqual({ status: 201, body: { file: "one.db", bytes: size } });
    expect([mode & 0o777, (await stat(folder)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await backUp({ file: "one.db" })).toEqual({
      status: 409,
      body: { error: "Conflict", message: "one.db already exists; name a new file" },
    });
    expect((await backUp({})).body.file).toBe("metrics-2026-11-20T120000Z.db");
    expect((await readdir(folder)).toSorted()).toEqual(["metrics-2026-11-20T120000Z.db", "one.db"]);
    await own.close();
  });

  test.each(["", "..", ".hidden", "a/b", "/tmp/a", "../a", "a\\b", "a\0b", "ä", "a".repeat(101)])(
    "400 for the file %j",
    async (file) => {
      const { status, body } = await sendAdmin("POST", "backups", { file });
      expect([status, body.message]).toEqual([
        400,
        expect.stringMatching(/^file must be a name of 1 to 100 letters, digits, dots/),
      ]);
    },
  );

  test("GET, DELETE /admin/backups: lists, downloads and deletes a backup", async () => {
    const { file, bytes } = (await sendAdmin("POST", "backups", { file: "kept.db" })).body;
    const listed: Record<string, unknown>[] = (await sendAdmin("GET", "backups")).body;
    expect(listed.find((backup) => backup["file"] === file)).toEqual({
      file,
      bytes,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const response = await downloadBackup("kept.db");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/vnd.sqlite3",
      "content-disposition": 'attachment; filename="kept.db"',
      "cache-control": "no-store",
    });
    const accounts: object[] = (await sendAdmin("GET", "accounts")).body;
    const copy = Database.deserialize(await response.bytes());
    expect(copy.query("SELECT count(*) AS count FROM accounts").get()).toEqual({
      count: accounts.length,
    });
    const deleted = await sendAdmin("DELETE", "backups", { file });
    expect(deleted).toEqual({ status: 200, body: { file } });
    for (const gone of [await downloadBackup(file), await sendRaw("DELETE", "backups", { file })]) {
      expect([gone.status, await gone.json()]).toEqual([
        404,
        { error: "Not Found", message: `There is no backup ${file}` },
      ]);
    }
  });

  test("GET /admin/backups lists neither folders nor backups that are being made", async () => {
    const folder = join(service.folder, "backups");
    await mkdir(join(folder, "old"), { recursive: true });
    for (const name of ["running.db.part", ".hidden", "a b"])
      await Bun.write(join(folder, name), "");
    const listed = (await sendAdmin("GET", "backups")).body as { file: string }[];
    const names = listed.map(({ file }) => file);
    for (const name of ["old", "running.db.part", ".hidden", "a b"])
      expect(names).not.toContain(name);
    for (const name of ["running.db.part", "..%2F..%2Fmetrics.db", "old"]) {
      expect((await downloadBackup(name)).status).toBe(404);
    }
  });

  test("GET /admin/backups/{file} sends the whole file, whatever range a request has", async () => {
    await sendAdmin("POST", "backups", { file: "whole.db" });
    const whole = await (await downloadBackup("whole.db")).bytes();
    for (const range of ["bytes=0-1", "bytes=99999999999-"]) {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, range };
      const response = await service.send("/admin/backups/whole.db", { headers });
      expect([range, response.status]).toEqual([range, 200]);
      expect(Bun.SHA256.hash(await response.bytes())).toEqual(Bun.SHA256.hash(whole));
    }
  });

  test("GET, DELETE /admin/backups: a backup that is deleted meanwhile is no failure", async () => {
    const folder = join(service.folder, "backups");
    const files = Array.from({ length: 30 }, (_, index) => `${index}.db`);
    for (let round = 0; round < 3; round++) {
      await Promise.all(files.map((file) => Bun.write(join(folder, file), "")));
      const responses = await Promise.all(
        files.flatMap((file) => [
          sendRaw("DELETE", "backups", { file }),
          sendRaw("GET", "backups"),
          sendRaw("DELETE", "backups", { file }),
        ]),
      );
      const failed = responses.filter(({ status }) => status !== 200 && status !== 404);
      expect(failed.map(({ status }) => status)).toEqual([]);
    }
    expect(await readdir(folder)).not.toContain("0.db");
  });

  test("409 for the name of a folder", async () => {
    await mkdir(join(service.folder, "backups/folder"), { recursive: true });
    expect((await sendAdmin("POST", "backups", { file: "folder" })).status).toBe(409);
  });
});

describe("GET /admin/accounts", () => {
  test("200: used_30_days of each account is the sum of its usage without parameters", async () => {
    const DAY_MS = 86_400_000;
    const now = service.clock.now;
    const used = new Map<string, number>();
    for (const days of [
      [-30, -29, 0],
      [-31, -30],
      [-1, -1],
    ]) {
      const { account, key } = await service.createAccountWithKey(9);
      for (const day of days) {
        service.clock.now = now + day * DAY_MS;
        await service.get("/api/video/channels", key);
      }
      used.set(account, days.filter((day) => day > -30).length);
    }
    service.clock.now = now;
    const { status, body } = await sendAdmin("GET", "accounts");
    expect(status).toBe(200);
    const listed: { name: string; used_30_days: number }[] = body;
    for (const [account, credits] of used) {
      const usage = await sendAdmin("GET", `usage?account=${encodeURIComponent(account)}`);
      const rows: { credits: number; refunded: number }[] = usage.body.usage;
      expect(rows.reduce((sum, row) => sum + row.credits - row.refunded, 0)).toBe(credits);
      expect(listed.find(({ name }) => name === account)).toMatchObject({ used_30_days: credits });
      const changed = await sendAdmin("PATCH", "accounts", { name: account, low_balance: 5 });
      expect(changed.body).toMatchObject({ used_30_days: credits, low_balance: 5 });
    }
  });
});

describe("GET /admin/usage", () => {
  test("200: what a key of the account reads, by day, key and endpoint", async () => {
    const { account, key } = await service.createAccountWithKey(9);
    await service.get("/api/video/channels", key);
    await service.get("/api/video/nobody/details", key);
    const ofAccount = `account=${encodeURIComponent(account)}`;
    for (const query of [
      "",
      "from=2026-11-19&to=2026-11-20",
      "by=key,endpoint,day",
      "by=hour",
      "zone=Europe/Lisbon",
      "zone=Asia/Tokyo&by=day",
    ]) {
      const own = await service.get(`/api/account?${query}`, key);
      const { status, body } = await sendAdmin("GET", `usage?${ofAccount}&${query}`);
      expect(status).toBe(200);
      expect(body).toEqual(Object(await own.json()));
    }
  });

  test.each([
    ["account=nobody", 404, "There is no account nobody"],
    ["account=account 1&account=b", 400, "account must be given once"],
    ["account=account 1&by=weather", 400, "by must be"],
    ["account=account 1&from=yesterday", 400, "from must be"],
    ["account=account 1&zone=Asia/Kolkata", 400, "zone must be"],
    ["", 400, "account is missing"],
  ])("%s: %d", async (query, status, message) => {
    const response = await sendAdmin("GET", `usage?${query}`);
    expect([response.status, response.body.message]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
  });
});

describe("DELETE /admin/keys", () => {
  test("404 for a text with half a surrogate pair, as for any other", async () => {
    const { status, body } = await sendAdmin("DELETE", "keys", { key: "\ud800 key" });
    expect([status, body.error]).toEqual([404, expect.stringContaining("Not Found")]);
  });
});

describe("fetch() of the service", () => {
  test("lets an administrator's request take any time, and no other", async () => {
    const removed: string[] = [];
    const server = {
      requestIP: () => null,
      timeout: ({ url }: Request, seconds: number) => void removed.push(`${url} ${seconds}`),
    };
    const send = (path: string, headers: Record<string, string>) =>
      service.service.fetch(new Request(`http://localhost${path}`, { headers }), server);
    await send("/admin/accounts", { authorization: "Bearer wrong" });
    await send("/admin/accounts", {});
    await send("/api/account", { "x-api-key": service.key });
    expect(removed).toEqual([]);
    await send("/admin/accounts", { authorization: `Bearer ${ADMIN_TOKEN}` });
    expect(removed).toEqual(["http://localhost/admin/accounts 0"]);
  });
});
