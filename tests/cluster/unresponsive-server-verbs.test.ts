import { expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

/** The 15 seconds that a verb may take, and more because many run at once. */
const VERBS_MAX_MS = 45_000;

/** All verbs, with a file to import. Over `ws` some are enough: all connect in the same way. */
const VERBS: Readonly<Record<string, (file: string) => string[][]>> = {
  http: (file) => [
    ["serve"],
    ["import", file],
    ["export"],
    ["backup", `${file}.db`],
    ["accounts", "list"],
    ["keys", "create", "acme"],
    ["credits", "grant", "acme", "10"],
    ["credits", "apply-refunds"],
    ["credits", "verify"],
    ["channels", "track", "@nasa"],
    ["retention", "apply"],
    ["collect", "--once"],
  ],
  ws: (file) => [["serve"], ["import", file], ["credits", "grant", "acme", "10"]],
};

const SECRET = "user:secret@";

test.skipIf(!hasSqld()).each(Object.entries(VERBS))(
  "every verb ends and names the database server if that does not answer over %s",
  async (protocol, listVerbs) => {
    const server = await startSqld();
    const url = server.url.replace("http", protocol);
    const sandbox = await openSandbox({ DATABASE_URL: url.replace("//", `//${SECRET}`) });
    await sandbox.runOrThrow("accounts", "create", "acme");
    const line = '{"kind":"user","observedAt":"2026-01-01","username":"a"}';
    const verbs = listVerbs(await sandbox.write("lines.ndjson", line));
    server.pause();
    const startedAt = performance.now();
    const results = await Promise.all(verbs.map((verb) => sandbox.run(verb)));
    expect(performance.now() - startedAt).toBeLessThan(VERBS_MAX_MS);
    const redactedUrl = url.replace("//", "//…@");
    const sentence = `Waited for the database server ${redactedUrl} in vain: The database does not answer right now; start it`;
    expect(results.map(({ status, err }) => [status, err])).toEqual(
      verbs.map(() => [1, expect.stringContaining(sentence)]),
    );
    expect(results.map(({ err }) => err).join("")).not.toContain("secret");
    server.resume();
    // What a verb did not do during the outage is not done afterwards.
    const [account, ...others] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
    expect([account.granted, others]).toEqual([0, []]);
    await sandbox.close();
    await server.close();
  },
  120_000,
);

test.skipIf(!hasSqld())(
  "import ends and names the database server if that stops answering meanwhile",
  async () => {
    const server = await startSqld();
    const sandbox = await openSandbox({ DATABASE_URL: server.url });
    const lines = Array.from({ length: 300_000 }, (_, index) =>
      JSON.stringify({ kind: "user", observedAt: "2026-01-01", username: `user ${index}` }),
    );
    const file = await sandbox.write("many.ndjson", lines.join("\n"));
    const database = await openDatabase({ url: server.url, durability: "power" });
    const importing = sandbox.spawn(["import", file, "--json"]);
    const isBegun = async () => (await database.queryRows("SELECT 1 FROM changes")).length > 0;
    for (let attempt = 0; attempt < 200 && !(await isBegun()); attempt++) await Bun.sleep(50);
    await database.close();
    server.pause();
    const startedAt = performance.now();
    expect(await importing.exited).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(VERBS_MAX_MS);
    expect(await importing.stderr.text()).toContain(
      `The database server ${server.url} does not answer: `,
    );
    await sandbox.close();
    await server.close();
  },
  120_000,
);
