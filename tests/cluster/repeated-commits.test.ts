/** A commit of a free repeat whose response is lost counts it once, whatever comes in between. */
import { expect, test } from "bun:test";
import { FREE_REPEATS_MAX } from "../../core/limits.ts";
import { createLedgerStore, type LedgerStore } from "../../server/store/accounts/ledger.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { startLossyHranaProxy } from "../support/network/lossy-hrana-proxy.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { makeCharge } from "../support/store/debits.ts";
import { waitUntil } from "../support/wait.ts";

const NOW = 1_790_000_000_000;

test.skipIf(!hasSqld())(
  "a free repeat counts once if the response to its commit is lost and another one comes between",
  async () => {
    const server = await startSqld();
    const proxy = startLossyHranaProxy(server.url, /UPDATE payments/);
    const databases = await Promise.all(
      [server.url, proxy.url].map((url) => openDatabase({ url, durability: "power" })),
    );
    const [direct, lossy] = databases.map((database) => createLedgerStore(database)) as [
      LedgerStore,
      LedgerStore,
    ];
    const { id: account } = await direct.createAccount("a", 0);
    await direct.grant({ id: "g", account: "a", amount: 100 }, 0);
    const read = async (ledger: LedgerStore, uid: string) => {
      const idempotencyKey = { value: "k", fingerprint: "a request" };
      const charges = [{ ...makeCharge(account), idempotencyKey }];
      return (await ledger.debit(charges, { id: uid, now: NOW })).outcomes[0]?.kind;
    };
    await read(direct, "payment");
    // The second attempt is lost, too, so that the other repeat comes before the third.
    proxy.state.responsesToDrop = 2;
    const repeated = read(lossy, "lost");
    await waitUntil(() => proxy.state.droppedResponses > 0);
    expect(await read(direct, "other")).toBe("repeated");
    expect(await repeated).toBe("repeated");
    expect(proxy.state.droppedResponses).toBe(2);
    for (let nth = 2; nth < FREE_REPEATS_MAX; nth++) {
      expect([nth, await read(direct, `repeat ${nth}`)]).toEqual([nth, "repeated"]);
    }
    expect(await read(direct, "another payment")).toBe("charged");
    await Promise.all(databases.map((database) => database.close()));
    proxy.close();
    await server.close();
  },
  60_000,
);
