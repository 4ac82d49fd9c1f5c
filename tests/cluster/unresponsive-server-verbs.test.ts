/** Verbs, and a service that starts, while the libSQL server is silent. */
import { expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

/** The 15 seconds that a verb may take, and what a busy machine adds to many at once. */
const VERBS_MAX_MS = 45_000;

const SECRET = "user:secret@";

test.skipIf(!hasSqld()).each([["http"], ["ws"]])(
  "every verb and a starting serve end while the server is silent over %s, and name it",
  async (protocol) => {
    const server = await startSqld();
    const url = server.url.replace("http", protocol);
    const place = await openSandbox({ DATABASE_URL: url.replace("//", `//${SECRET}`) });
    await place.runOrThrow("accounts", "create", "acme");
    const line = '{"kind":"user","observedAt":"2026-01-01","username":"a"}';
    const verbs = [
      ["serve"],
      ["import", await place.write("lines.ndjson", line)],
      ["export"],
      ["accounts", "list"],
      ["keys", "create", "acme"],
      ["credits", "grant", "acme", "10"],
      ["credits", "apply-refunds"],
      ["credits", "verify"],
      ["channels", "track", "@nasa"],
      ["retention", "apply"],
      ["collect", "--once"],
    ];
    server.pause();
    const began = performance.now();
    const ran = await Promise.all(verbs.map((verb) => place.run(verb)));
    expect(performance.now() - began).toBeLessThan(VERBS_MAX_MS);
    const shown = url.replace("//", "//…@");
    const sentence = `Waited for the database server ${shown} in vain: The database does not answer right now\n`;
    expect(ran.map(({ status, err }) => [status, err])).toEqual(
      verbs.map(() => [1, expect.stringContaining(sentence)]),
    );
    expect(ran.map(({ err }) => err).join("")).not.toContain("secret");
    server.resume();
    // What was not done while it was silent is not done afterwards.
    const [account, ...others] = JSON.parse(await place.runOrThrow("accounts", "list", "--json"));
    expect([account.granted, others]).toEqual([0, []]);
    await place.close();
    await server.close();
  },
  120_000,
);

test.skipIf(!hasSqld())(
  "import ends when the server falls silent in the middle, and names it",
  async () => {
    const server = await startSqld();
    const place = await openSandbox({ DATABASE_URL: server.url });
    const lines = Array.from({ length: 300_000 }, (_, index) =>
      JSON.stringify({ kind: "user", observedAt: "2026-01-01", username: `user ${index}` }),
    );
    const file = await place.write("many.ndjson", lines.join("\n"));
    const database = await openDatabase({ url: server.url, durability: "power" });
    const importing = place.spawn(["import", file, "--json"]);
    const isBegun = async () => (await database.queryRows("SELECT 1 FROM changes")).length > 0;
    for (let attempt = 0; attempt < 200 && !(await isBegun()); attempt++) await Bun.sleep(50);
    await database.close();
    server.pause();
    const began = performance.now();
    expect(await importing.exited).toBe(1);
    expect(performance.now() - began).toBeLessThan(VERBS_MAX_MS);
    expect(await importing.stderr.text()).toContain(`The database server ${server.url} is away: `);
    await place.close();
    await server.close();
  },
  120_000,
);
