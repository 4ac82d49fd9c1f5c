/** Tests the client and the listener of the committer, over real connections. */
import { afterEach, describe, expect, test } from "bun:test";
import { createPeerCertificate } from "../../server/committer/certificate.ts";
import { createCommitClient } from "../../server/committer/client.ts";
import { startCommitListener } from "../../server/committer/listener.ts";
import { createPath, MESSAGES_VERSION } from "../../server/committer/messages.ts";
import type { RunBatch } from "../../server/store/accounts/debit-sql.ts";
import type { CommitRuns, CommittedRuns } from "../../server/store/accounts/run-batches.ts";
import { catchError } from "../support/catch-error.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { waitUntil } from "../support/wait.ts";

const [CERTIFICATE, OTHER_CERTIFICATE] = [createPeerCertificate(), createPeerCertificate()];

const COMMITTED: CommittedRuns = {
  outcomes: [{ balance: 5, requests: 1 }],
  payments: [],
  changes: { sequence: 0, tags: "[]", published: 0 },
};

const createBatch = (uid: string): RunBatch => ({
  runs: [{ account: 1, cost: 1, key: 1, endpoint: "/api/video/channels", count: 1 }],
  uid,
  now: 1_790_000_000_000,
  since: undefined,
  refunds: [],
});

const { privateKey: key, certificate: cert } = CERTIFICATE;

const TABLES_VERSION = 7;
const PATH = createPath(TABLES_VERSION);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Starts a listener on a free port. */
function startListener(commit: CommitRuns, peerCertificate = CERTIFICATE, port = 0) {
  const listener = startCommitListener({
    hostname: "127.0.0.1",
    port,
    peerCertificate,
    tablesVersion: TABLES_VERSION,
    commit,
    isRolledBack: (error) => String(error).includes("rolled back"),
  });
  closers.push(listener.stop);
  return { ...listener, address: `127.0.0.1:${listener.port}` };
}

/** Creates a client, and records the changes of its connection. */
function createClient(peerCertificate = CERTIFICATE, tablesVersion = TABLES_VERSION) {
  const changes: (string | undefined)[] = [];
  const client = createCommitClient({
    readPeerCertificate: async () => peerCertificate,
    tablesVersion,
    onConnectionChange: (_, failure) => changes.push(failure),
  });
  closers.push(() => client.follow(undefined));
  return { ...client, changes };
}

/** Starts a listener whose commits don't end before the test. */
function startSlowListener() {
  const ending = Promise.withResolvers<CommittedRuns>();
  const listener = startListener(() => ending.promise);
  closers.push(() => ending.resolve(COMMITTED));
  return listener;
}

describe("createCommitClient()", () => {
  test("commit() refuses batches until it is connected, then returns what became of each", async () => {
    const { address } = startListener(async ({ uid }) => ({
      ...COMMITTED,
      changes: { sequence: Number(uid), tags: "[]", published: 0 },
    }));
    const client = createClient();
    const refused = { name: "NotCommittedError", isRefused: true };
    expect(await catchError(() => client.commit(createBatch("0")))).toMatchObject(refused);
    client.follow(address);
    while (!client.isReady()) {
      expect(await catchError(() => client.commit(createBatch("0")))).toMatchObject(refused);
      await Bun.sleep(0);
    }
    const committed = await Promise.all(
      ["1", "2", "3"].map((uid) => client.commit(createBatch(uid))),
    );
    expect(committed.map(({ changes }) => changes.sequence)).toEqual([1, 2, 3]);
  });

  test("commit() says whether a batch that failed may be committed", async () => {
    const { address } = startListener(({ uid }) => Promise.reject(new Error(uid)));
    const client = createClient();
    client.follow(address);
    await waitUntil(client.isReady);
    const refused = await catchError(() => client.commit(createBatch("rolled back")));
    expect(refused).toMatchObject({ name: "NotCommittedError", isRefused: true });
    const uncertain = await catchError(() => client.commit(createBatch("lost")));
    expect(uncertain).toMatchObject({ name: "NotCommittedError", isRefused: false });
    expect(client.isReady()).toBe(true);
  });

  test("commit() fails after a second without a response, as do all batches that wait, and it connects again", async () => {
    const responding = Promise.withResolvers<CommittedRuns>();
    const { address } = startListener(() => responding.promise);
    const client = createClient();
    client.follow(address);
    await waitUntil(client.isReady);
    const startedAt = performance.now();
    const failures = await Promise.all(
      ["1", "2"].map((uid) => catchError(() => client.commit(createBatch(uid)))),
    );
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    for (const failure of failures) expect(failure).toMatchObject({ isRefused: false });
    expect(client.isReady()).toBe(false);
    responding.resolve(COMMITTED);
    await waitUntil(client.isReady);
    expect(await client.commit(createBatch("3"))).toEqual(COMMITTED);
  });

  test("notices by itself that its connection is silently dead", async () => {
    const { address } = startListener(async () => COMMITTED);
    const proxy = await startBlackholeProxy(`tcp://${address}`);
    closers.push(proxy.close);
    const client = createClient();
    client.follow(new URL(proxy.url).host);
    await waitUntil(client.isReady);
    proxy.blackhole();
    await waitUntil(() => client.changes.length === 3);
    expect(client.changes).toEqual([undefined, "It does not answer", undefined]);
    expect(await client.commit(createBatch("1"))).toEqual(COMMITTED);
  }, 20_000);

  test("is ready only while it follows an address, and goes on with another one", async () => {
    const first = startListener(async () => COMMITTED);
    const second = startListener(async () => ({ ...COMMITTED, outcomes: [null] }));
    const client = createClient();
    client.follow(first.address);
    await waitUntil(client.isReady);
    client.follow(second.address);
    expect(client.isReady()).toBe(false);
    await waitUntil(client.isReady);
    expect((await client.commit(createBatch("1"))).outcomes).toEqual([null]);
    client.follow(undefined);
    expect(client.isReady()).toBe(false);
    await waitUntil(() => !first.hasPeers() && !second.hasPeers());
  });

  test("takes no more batches than 8 that wait", async () => {
    const { address } = startSlowListener();
    const client = createClient();
    client.follow(address);
    await waitUntil(client.isReady);
    const commits = Array.from({ length: 8 }, (_, index) =>
      catchError(() => client.commit(createBatch(`${index}`))),
    );
    expect(client.isReady()).toBe(false);
    client.follow(undefined);
    await Promise.all(commits);
  });

  test("connects to no listener with another certificate or version of the tables", async () => {
    const ours = startListener(async () => COMMITTED);
    const theirs = startListener(async () => COMMITTED, OTHER_CERTIFICATE);
    const client = createClient();
    const strangers = [
      createClient(OTHER_CERTIFICATE),
      createClient(CERTIFICATE, TABLES_VERSION - 1),
      createClient(CERTIFICATE, TABLES_VERSION + 1),
    ];
    client.follow(theirs.address);
    for (const { follow } of strangers) follow(ours.address);
    await Bun.sleep(1500);
    expect([client, ...strangers].map(({ isReady }) => isReady())).not.toContain(true);
    expect([ours.hasPeers(), theirs.hasPeers()]).toEqual([false, false]);
    client.follow(ours.address);
    await waitUntil(client.isReady);
  });

  test("connects to no listener of another version of the messages", async () => {
    const paths: string[] = [];
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { key, cert, ca: cert, requestCert: true, rejectUnauthorized: true },
      fetch(request) {
        const { pathname } = new URL(request.url);
        paths.push(pathname);
        // What startCommitListener() does, with the next version.
        const isKnown = pathname === createPath(TABLES_VERSION, MESSAGES_VERSION + 1);
        return new Response(null, { status: isKnown ? 426 : 404 });
      },
    });
    closers.push(() => other.stop(true));
    const client = createClient();
    client.follow(`127.0.0.1:${other.port}`);
    await waitUntil(() => paths.length > 1);
    expect(client.isReady()).toBe(false);
    expect(new Set(paths)).toEqual(new Set([PATH]));
    expect(await catchError(() => client.commit(createBatch("1")))).toBeInstanceOf(Error);
  });
});

/** Opens a WebSocket to a listener with TLS options. @returns The code it was closed with. */
async function closeCodeOf(
  address: string,
  tls: object,
  message?: string,
  path = PATH,
): Promise<number> {
  const socket = new WebSocket(`wss://${address}${path}`, {
    tls: { ca: cert, checkServerIdentity: () => undefined, ...tls },
  });
  if (message !== undefined) socket.addEventListener("open", () => socket.send(message));
  return new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
}

describe("startCommitListener()", () => {
  const ABNORMAL = 1006;

  test("refuses a process without the certificate, and anything but TLS", async () => {
    const { address, hasPeers } = startListener(async () => COMMITTED);
    const other = { key: OTHER_CERTIFICATE.privateKey, cert: OTHER_CERTIFICATE.certificate };
    expect(await closeCodeOf(address, {})).toBe(ABNORMAL);
    expect(await closeCodeOf(address, other)).toBe(ABNORMAL);
    expect(hasPeers()).toBe(false);
    await expect(fetch(`http://${address}`)).rejects.toThrow();
    await expect(fetch(`https://${address}${PATH}`, { tls: { ca: cert } })).rejects.toThrow();
    const response = await fetch(`https://${address}${PATH}`, {
      tls: { ca: cert, key, cert, checkServerIdentity: () => undefined },
    });
    expect(response.status).toBe(426);
  });

  test("refuses a process of another version of the messages, or of none", async () => {
    const { address, hasPeers } = startListener(async () => COMMITTED);
    const versions = [MESSAGES_VERSION - 1, MESSAGES_VERSION + 1];
    const paths = versions.map((version) => createPath(TABLES_VERSION, version));
    for (const path of [...paths, `/${TABLES_VERSION}`, "/"]) {
      expect([path, await closeCodeOf(address, { key, cert }, undefined, path)]).toEqual([
        path,
        ABNORMAL,
      ]);
    }
    expect(hasPeers()).toBe(false);
  });

  test.each([
    ["rubbish", "rubbish", 1008],
    ["a batch without runs", JSON.stringify({ id: 1, batch: { runs: [] } }), 1008],
    ["a message of more than a megabyte", "x".repeat(1_048_577), 1009],
  ])("disconnects a process that sends %s, and disturbs no other", async (_, message, code) => {
    const { address } = startListener(async () => COMMITTED);
    const client = createClient();
    client.follow(address);
    await waitUntil(client.isReady);
    expect(await closeCodeOf(address, { key, cert }, message)).toBe(code);
    expect(await client.commit(createBatch("1"))).toEqual(COMMITTED);
    expect(client.changes).toEqual([undefined]);
  });

  test("refuses batches beyond 16 that wait on a connection", async () => {
    const { address } = startSlowListener();
    const socket = new WebSocket(`wss://${address}${PATH}`, {
      tls: { ca: cert, key, cert, checkServerIdentity: () => undefined },
    });
    const received: unknown[] = [];
    socket.addEventListener("message", ({ data }) => received.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    for (let id = 1; id <= 17; id++)
      socket.send(JSON.stringify({ id, batch: createBatch(`${id}`) }));
    await waitUntil(() => received.length > 0);
    expect(received).toEqual([{ id: 17, isRefused: true }]);
    socket.terminate();
  });

  test("stop() finishes the batches that it received, refuses others, and disconnects", async () => {
    const committing = Promise.withResolvers<CommittedRuns>();
    const { address, stop } = startListener(() => committing.promise);
    const client = createClient();
    client.follow(address);
    await waitUntil(client.isReady);
    const commit = client.commit(createBatch("1"));
    await Bun.sleep(50);
    const stopping = stop();
    expect(await catchError(() => client.commit(createBatch("2")))).toMatchObject({
      isRefused: true,
    });
    committing.resolve(COMMITTED);
    expect(await commit).toEqual(COMMITTED);
    await stopping;
    await waitUntil(() => !client.isReady());
  });
});
