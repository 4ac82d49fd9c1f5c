import { describe, expect, test } from "bun:test";
import { parseObservation } from "../../core/observations.ts";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { writeObservations } from "../support/store/observations.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { createVideoReads } from "../../server/store/reads/video.ts";
import { resultOrError } from "../support/store/database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { commitDebitGroup } from "../support/store/debits.ts";

describe.skipIf(!hasSqld())("a libSQL server that two services share", () => {
  test("has exact credits, creators and observations after concurrent writes", async () => {
    const server = await startSqld();
    const open = () => openDatabase({ url: server.url, durability: "power" });
    const first = await open();
    const second = await open();
    const both = [first, second];
    const ledgers = both.map((database) => createLedgerStore(database));
    const account = await createLedgerStore(first).createAccount("a", 0);
    await createLedgerStore(second).grant({ id: "g", account: "a", amount: 100 }, 0);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        commitDebitGroup(
          ledgers[index % 2] ?? createLedgerStore(first),
          Array.from({ length: 5 }, () => ({ account: account.id, cost: 1 })),
          `debit ${index}`,
          0,
        ),
      ),
    );
    const accepted = outcomes.flat().filter(({ isAccepted }) => isAccepted);
    expect(accepted.length).toBe(100);
    expect(new Set(accepted.map(({ balance }) => balance)).size).toBe(100);
    expect(await verifyLedger(second)).toMatchObject({ accounts: 1, faults: [] });

    const lists = both.map((database) => createCreatorStore(database, { max: 25 }));
    const totals = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        lists[index % 2]?.add({ platform: "microblog", creator: `c${index % 20}` }, 0),
      ),
    );
    expect(
      totals
        .flatMap((add) => (add.status === "fulfilled" ? [add.value?.total ?? 0] : []))
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));

    const moreAdds = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        resultOrError(
          (lists[index % 2] ?? createCreatorStore(first)).add(
            { platform: "microblog", creator: `d${index}` },
            0,
          ),
        ),
      ),
    );
    const refused = moreAdds.filter(Array.isArray).map(([code]) => code);
    expect(refused).toEqual(Array.from({ length: 15 }, () => "Creator List Full"));

    const observation = (day: number, subscribers: number) =>
      parseObservation(
        {
          kind: "channel",
          observedAt: `2026-01-0${day}`,
          id: "c",
          displayName: `${day}`,
          subscribers,
        },
        Date.now(),
      );
    await Promise.all([
      writeObservations(first, [observation(3, 30), observation(1, 10)]),
      writeObservations(second, [observation(2, 20), observation(3, 33)]),
    ]);
    expect((await createVideoReads(second).channel("c")).body).toMatchObject({
      displayName: "3",
      subscribers: 33,
      statistics: { dailySubscriberGain: 13 },
    });
    await Promise.all(both.map((database) => database.close()));
    await server.close();
  }, 60_000);
});
