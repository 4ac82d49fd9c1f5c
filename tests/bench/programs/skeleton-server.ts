/**
 * The skeleton of a metered server: it reads four request headers and writes seven response
 * headers, decides in memory whether a balance covers a request, and commits each group of waiting
 * requests with one INSERT. If debits are to survive a power cut, the write-ahead log is synced in
 * the thread pool before the group is answered. It has nothing else that a service needs.
 *
 * Arguments: the path of a new database, `power` or `process`, and the API key. Standard input: the
 * body.
 */
import { fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { openPlainJournal } from "./plain-journal.ts";

const [, , file = "", durability = "", apiKey = ""] = process.argv;
const body = await Bun.stdin.text();
const ENDPOINT = "/api/microblog/{username}/details";
const GROUPS_IN_FLIGHT_MAX = 2;

const insertDebit = openPlainJournal(file);
const logDescriptor = openSync(`${file}-wal`, "r");
const syncDescriptor = promisify(fdatasync);
const accounts = new Map([[apiKey, { id: 1, balance: 1_000_000_000 }]]);

let waiting: (() => void)[] = [];
let groupsInFlight = 0;
let isScheduled = false;

/** Starts a group at the end of this turn of the event loop, if there is room for one. */
function scheduleGroup(): void {
  if (isScheduled || waiting.length === 0 || groupsInFlight >= GROUPS_IN_FLIGHT_MAX) return;
  isScheduled = true;
  setImmediate(() => void commitGroup());
}

async function commitGroup(): Promise<void> {
  isScheduled = false;
  groupsInFlight++;
  const group = waiting;
  waiting = [];
  const requests = group.length;
  const at = Date.now();
  insertDebit({ account: 1, amount: requests, at, requests, key: 1, endpoint: ENDPOINT });
  if (durability === "power") await syncDescriptor(logDescriptor);
  groupsInFlight--;
  for (const answer of group) answer();
  scheduleGroup();
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  reusePort: false,
  async fetch({ headers }) {
    const account = accounts.get(headers.get("x-api-key") ?? "");
    if (account === undefined) return new Response(null, { status: 401 });
    if (headers.get("idempotency-key") !== null) return new Response(null, { status: 501 });
    if (headers.get("if-none-match") !== null) return new Response(null, { status: 304 });
    const requestId = headers.get("x-request-id") ?? Bun.randomUUIDv7();
    if (account.balance < 1) return new Response(null, { status: 402 });
    const balance = --account.balance;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      scheduleGroup();
    });
    return new Response(body, {
      headers: {
        "content-type": "application/json",
        "cache-control": "private, no-cache",
        vary: "X-API-Key, Accept-Encoding",
        "x-observed-at": "2026-02-14T00:00:00.000Z",
        "x-request-id": requestId,
        "x-credits-cost": "1",
        "x-credits-remaining": String(balance),
      },
    });
  },
});
console.error(server.url.origin);
