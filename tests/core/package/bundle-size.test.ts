/** Holds the size of what an application that imports a part of core sends to its users. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import jsr from "../../../core/jsr.json";
import { ROOT } from "../../support/docs.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "core-bundles-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns The minified bundle of these exports of an entry, as text and its size as gzip. */
async function bundle(entry: keyof typeof jsr.exports, names: string) {
  const file = join(folder, "use.js");
  const source = join(ROOT, "core", jsr.exports[entry]);
  await Bun.write(file, `export ${names} from ${JSON.stringify(source)};`);
  const { outputs } = await Bun.build({ entrypoints: [file], minify: true, target: "browser" });
  const code = (await outputs[0]?.text()) ?? "";
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length };
}

test.each([
  [".", "{ paginate }", "Page Out of Range", 400],
  [".", "{ applyEntries, applyEntry, computeBalance, EMPTY_LEDGER }", "Insufficient Credits", 900],
  ["./schema", "{ ChannelDetails }", "subscribers", 4200],
  ["./schema", "{ TweetsPage }", "page_count", 4200],
  ["./client", "*", "idempotency-key", 6050],
] as const)("%s: a bundle of %s has %j in it, and less than %d bytes gzipped", async (...row) => {
  const [entry, names, part, maxBytes] = row;
  const { code, gzipBytes } = await bundle(entry, names);
  expect(code.includes(part)).toBe(true);
  expect(gzipBytes).toBeLessThan(maxBytes);
});
