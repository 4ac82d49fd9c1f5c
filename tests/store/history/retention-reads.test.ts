import { describe, expect, test } from "bun:test";
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { jsonRoundTrip, withDatabase } from "../../support/store/database.ts";
import {
  applyPolicy,
  checkAndStore,
  parsePolicy,
  makeObservation,
} from "../../support/store/retention.ts";

describe("reads after applyRetention()", () => {
  test("return the same raw days, gains and lists as before", async () => {
    await withDatabase(async (database) => {
      const hours = Array.from({ length: 24 * 39 }, (_, hour) => NOW - hour * 3_600_000);
      const old = Array.from({ length: 500 }, (_, hour) => NOW - 60 * DAY_MS - hour * 3_600_000);
      const ofAll = (at: number, index: number) =>
        ENTITY_KINDS.map((kind) =>
          makeObservation(kind, kind === "user" ? "u" : "c", at, 5000 - index),
        );
      await checkAndStore(database, hours.flatMap(ofAll));
      const answers = async () => {
        const [video, microblog] = [createVideoReads(database), createMicroblogReads(database)];
        const page = { days: 14, page: 0, limit: 100 };
        return [
          await video.channels(),
          await video.channel("c"),
          await video.shorts("c", { limit: 100 }),
          await video.short("c", "c"),
          await microblog.user("u"),
          await microblog.tweets("u", { ...page, days: 14 }, Date.parse("2026-01-02")),
          await microblog.followers("u", page, NOW),
          await microblog.tweet("u", "c"),
        ].map((reading) => jsonRoundTrip(reading));
      };
      const raw = await answers();
      await checkAndStore(database, old.flatMap(ofAll));
      const { kinds, faults } = await applyPolicy(
        database,
        parsePolicy(ENTITY_KINDS.map((kind) => `${kind}=40d`).join()),
      );
      expect(faults).toEqual([]);
      expect(kinds.map(({ removed }) => removed)).toEqual([500, 500, 500, 500]);
      expect(await answers()).toEqual(raw);
    });
  });

  test("are reported as changed for the pruned entities", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      const both = (kind: EntityKind, id: string) => [
        makeObservation(kind, id, at(50)),
        makeObservation(kind, id, at(1)),
      ];
      await checkAndStore(database, [
        ...both("channel", "other"),
        makeObservation("channel", "c", at(1)),
        ...both("short", "s"),
        ...both("user", "Other"),
        ...both("tweet", "t"),
      ]);
      const ledger = createLedgerStore(database);
      const none = { id: "a", now: NOW };
      const { changes: known } = await ledger.debit([], { ...none, since: undefined });
      await applyPolicy(database, parsePolicy("channel=40d,short=40d,user=40d,tweet=40d"));
      const { changes } = await ledger.debit([], { ...none, since: known.sequence });
      expect(changes.tags?.toSorted()).toEqual([
        "channel c",
        "channel other",
        "channels",
        "shorts",
        "tweets",
        "user other",
        "user u",
        "users",
      ]);
      await applyPolicy(database, parsePolicy("channel=40d,short=40d,user=40d,tweet=40d"));
      const again = await ledger.debit([], { ...none, since: changes.sequence });
      expect(again.changes.tags).toEqual([]);
    });
  });

  test("are the same after an export of what is left was imported elsewhere", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => formatInstant(NOW - days * DAY_MS);
      await checkAndStore(database, [
        { kind: "channel", id: "c", observedAt: at(60), username: "Name", description: "d" },
        { kind: "channel", id: "c", observedAt: at(50), displayName: "Shown", subscribers: 1 },
        { kind: "channel", id: "c", observedAt: at(2), subscribers: 2 },
        { kind: "channel", id: "c", observedAt: at(1), country: "IE", subscribers: 3 },
      ]);
      await applyPolicy(database, parsePolicy("channel=40d"));
      const lines: object[] = [];
      for await (const line of exportObservations(database, {})) lines.push(line);
      expect(lines).toEqual([
        {
          kind: "channel",
          observedAt: at(2),
          id: "c",
          username: "Name",
          displayName: "Shown",
          description: "d",
          subscribers: 2,
        },
        { kind: "channel", observedAt: at(1), id: "c", country: "IE", subscribers: 3 },
      ]);
      const since: object[] = [];
      for await (const line of exportObservations(database, { since: NOW - 1.5 * DAY_MS }))
        since.push(line);
      expect(since).toEqual(lines.slice(1));
      const answer = await createVideoReads(database).channel("name");
      await withDatabase(async (other) => {
        await checkAndStore(other, lines);
        expect(await createVideoReads(other).channel("name")).toEqual(answer);
      });
    });
  });
});
