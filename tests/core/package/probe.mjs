/**
 * Calls the functions of core with random arguments, and returns a digest of their results. It is
 * plain JavaScript without imports, so that every runtime can load it.
 *
 * @param {Record<string, Function>} core The exports of the package.
 * @param {number} rounds
 * @returns {string} The digest, the same in every runtime.
 */
export function digestResults(core, rounds) {
  let state = 1;
  // mulberry32
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (max) => Math.floor(random() * max);
  const pick = (values) => values[integer(values.length)];
  const instant = () => integer(4_000_000_000_000) - 1_000_000_000_000;
  const text = () =>
    Array.from({ length: integer(6) }, () =>
      pick(["a", "Z", "é", "本", "🍲", "\u0000", "_", "9"]),
    ).join("");
  const query = (names) => {
    const values = new Map(
      names.map((name) => [name, pick([[], [text()], [String(integer(200) - 20)], ["1", "2"]])]),
    );
    return (name) => values.get(name) ?? [];
  };

  let hash = 2_166_136_261;
  const record = (value) => {
    // FNV-1a
    for (const unit of JSON.stringify(value, replaceMap) ?? "undefined") {
      hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16_777_619) >>> 0;
    }
  };
  const call = (work) => {
    try {
      record(work());
    } catch (error) {
      record(`${error.name}: ${error.message}`);
    }
  };

  let ledger = core.EMPTY_LEDGER;
  let entity = core.EMPTY_ENTITY;
  let creators = new Map();
  for (let round = 0; round < rounds; round++) {
    const at = instant();
    call(() => core.formatInstant(at));
    call(() =>
      core.parseInstant(pick([core.formatInstant(at), text(), "2026-02-30", "2026-11-20T08:15Z"])),
    );
    call(() => core.paginate(integer(4), 1 + integer(100), integer(500)));
    call(() => core.parsePageRequest(query(["days", "page", "limit"])));
    call(() => core.parseShortsRequest(query(["limit", "before", "cursor"])));
    call(() => core.decodeCursor(core.encodeCursor({ at, id: text() })));
    call(() => core.parseHistoryRequest(query(["from", "to", "interval", "limit", "cursor"]), at));
    call(() =>
      core.parseListRequest(query(["limit", "sort"]), {
        sorts: core.CHANNEL_SORTS,
        hasCountry: true,
      }),
    );
    call(() => core.quote(pick([text(), integer(9), null, { deep: [text()] }])));
    call(() => core.foldCase(text()));
    call(() => core.compareText(text(), text()));
    call(() => core.computeGain(pick([null, integer(99)]), integer(99)));
    call(() => core.findBucketStart(at, pick(core.INTERVALS)));
    call(() => core.parseRetentionPolicy(pick(["channel=90d", "tweet=90d/day", text()])));
    call(() => core.parseCreator({ creator: text(), platform: "microblog" }));
    call(() => {
      ({ set: creators } = core.addCreator(creators, {
        creator: `c${integer(50)}`,
        platform: "microblog",
      }));
      return creators.size;
    });
    call(() => {
      const kind = pick(["grant", "debit"]);
      ledger = core.applyEntry(ledger, {
        kind,
        amount: integer(50),
        id: `e${round}`,
        reference: `r${integer(9)}`,
        at,
      });
      return core.computeBalance(ledger);
    });
    call(() => {
      const line = {
        kind: "channel",
        observedAt: core.formatInstant(integer(99) * 1e9),
        id: "UC",
        username: text(),
        subscribers: integer(99),
      };
      const applied = core.applyObservation(entity, core.parseObservation(line, 2e12));
      ({ entity } = applied);
      return [applied.outcome, core.findNewestCounts(entity)];
    });
  }
  return hash.toString(16);
}

function replaceMap(_name, value) {
  return value instanceof Map ? [...value] : value;
}
