/**
 * Clients poll during imports: no observation disappears, no response is older than an earlier one,
 * and imported observations show at once. READER_SECONDS=60 is the long form.
 */
import { afterEach, beforeEach, test } from "bun:test";
import { expectMonotonicReads } from "../../support/monotonic-reads.ts";
import { openSandbox, type Sandbox } from "../../support/processes/command-line.ts";

const SECONDS = Number(process.env["READER_SECONDS"] ?? 3);
const ADMIN_TOKEN = "token-of-this-test-alone";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN });
});
afterEach(() => sandbox.close());

test(`GET /api/microblog never loses an observation, or responds with an older state (${SECONDS} s of imports)`, async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100000000");
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  const service = await sandbox.serve();
  try {
    await expectMonotonicReads({
      urls: [service.url],
      key,
      adminToken: ADMIN_TOKEN,
      seconds: SECONDS,
      blocksMin: SECONDS,
      readsMin: 5 * SECONDS,
    });
  } finally {
    await service.stop();
  }
}, 180_000);
