/** Runs the programs of server/SELLING.md, with a real service and a fake Stripe. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readDoc } from "../support/docs.ts";
import { WEBHOOK_SECRET } from "../support/network/webhook-receiver.ts";
import {
  formatEvent,
  pay,
  sendEvent,
  signEvent,
  startFakeStripe,
  STRIPE_KEY,
  STRIPE_SECRET,
} from "../support/platforms/fake-stripe.ts";
import {
  METRICS_TOKEN,
  startExample,
  type ExampleProgram,
} from "../support/processes/example-program.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let grants: ExampleProgram;
let offers: ExampleProgram;
const stripe = startFakeStripe();

/** The programs and the service know the URLs of each other, so one port is chosen before. */
const PORT = findFreePort();

function findFreePort(): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  return String(port);
}

beforeAll(async () => {
  const WEBHOOK_URL = `http://127.0.0.1:${PORT}/notices`;
  sandbox = await openSandbox({ ADMIN_TOKEN: METRICS_TOKEN, WEBHOOK_URL, WEBHOOK_SECRET });
  service = await sandbox.serve();
  const METRICS_URL = service.url;
  const shared = { METRICS_URL, STRIPE_KEY, STRIPE_URL: stripe.url };
  grants = await startExample("grant-payments.ts", { ...shared, STRIPE_SECRET });
  offers = await startExample("offer-credits.ts", {
    ...shared,
    NOTICES_FILE: join(sandbox.folder, "notices.db"),
    PORT,
    STRIPE_PRICE: "price_1",
    WEBHOOK_SECRET,
  });
}, 30_000);
afterAll(async () => {
  await grants.stop();
  await offers.stop();
  await service.stop();
  await sandbox.close();
  await stripe.close();
});

async function readBalance(account: string): Promise<unknown> {
  const accounts: { name: string; balance: number }[] = JSON.parse(
    await sandbox.runOrThrow("accounts", "list", "--json"),
  );
  return accounts.find(({ name }) => name === account)?.balance;
}

const createSession = (account: string) => ({
  object: "checkout.session" as const,
  id: `cs_${account}`,
  client_reference_id: account,
  metadata: { credits: "500" },
  mode: "payment",
  payment_intent: null,
  payment_status: "unpaid" as const,
  url: null,
});

describe("grant-payments.ts", () => {
  const send = (type: string, object: object) => sendEvent(`${grants.url}/stripe`, type, object);

  test("grants a payment once, whatever events say that it is paid", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme");
    const session = createSession("acme");
    // A transfer is not paid yet when the session is completed.
    expect(await send("checkout.session.completed", session)).toBe(204);
    expect(await readBalance("acme")).toBe(0);
    const paid = pay(session, "pi_1");
    for (const type of ["completed", "completed", "async_payment_succeeded"]) {
      expect(await send(`checkout.session.${type}`, paid)).toBe(204);
      expect(await readBalance("acme")).toBe(500);
    }
    await send("checkout.session.completed", pay(session, "pi_2"));
    expect(await readBalance("acme")).toBe(1000);
    const statement = await sandbox.runOrThrow("credits", "statement", "acme", "--json");
    const lines: { reference: string }[] = statement
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ reference }) => reference)).toEqual(["pi_1", "pi_2"]);
  });

  test("answers 500, so that Stripe tries again, until the account exists", async () => {
    const paid = pay(createSession("globex"), "pi_3");
    expect(await send("checkout.session.completed", paid)).toBe(500);
    await sandbox.runOrThrow("accounts", "create", "globex");
    expect(await send("checkout.session.completed", paid)).toBe(204);
    expect(await readBalance("globex")).toBe(500);
  });

  test("answers 400 to an event that is not signed, or not lately, and grants nothing", async () => {
    await sandbox.runOrThrow("accounts", "create", "initech");
    const body = formatEvent("checkout.session.completed", pay(createSession("initech"), "pi_4"));
    const old = signEvent(body, { at: Date.now() - 301_000 });
    const forged = signEvent(body, { secret: "another" });
    for (const header of ["", "t=1,v1=00", forged, old, signEvent(`${body} `)]) {
      const headers = { "stripe-signature": header };
      const response = await fetch(`${grants.url}/stripe`, { method: "POST", headers, body });
      expect(response.status).toBe(400);
    }
    expect(await readBalance("initech")).toBe(0);
  });

  test("prints refunds and disputes, and leaves the credits", async () => {
    await sandbox.runOrThrow("accounts", "create", "hooli");
    await send("checkout.session.completed", pay(createSession("hooli"), "pi_5"));
    const refunded = { amount_refunded: 1000, refunded: true, metadata: { account: "hooli" } };
    expect(await send("charge.refunded", stripe.changeCharge("pi_5", refunded))).toBe(204);
    const dispute = { id: "dp_5", object: "dispute", metadata: {}, payment_intent: "pi_5" };
    expect(await send("charge.dispute.created", dispute)).toBe(204);
    await waitUntil(() =>
      grants.printed().includes("charge.dispute.created pi_5: unknown account"),
    );
    expect(grants.printed()).toContain("charge.refunded pi_5: hooli\n");
    expect(await readBalance("hooli")).toBe(500);
  });

  test.each([
    ["refunded", { amount_refunded: 1000, refunded: true }],
    ["partly refunded", { amount_refunded: 1 }],
    ["disputed", { disputed: true }],
  ])("does not grant a payment that was %s before its session came", async (name, change) => {
    const account = name.replace(" ", "-");
    await sandbox.runOrThrow("accounts", "create", account);
    stripe.changeCharge(`pi_${account}`, change);
    const paid = pay(createSession(account), `pi_${account}`);
    expect(await send("checkout.session.completed", paid)).toBe(204);
    await waitUntil(() =>
      grants
        .printed()
        .includes(`pi_${account}: not granted, because it was refunded or disputed\n`),
    );
    expect(await readBalance(account)).toBe(0);
  });

  test("grants a session without a payment once, by the id of the session", async () => {
    await sandbox.runOrThrow("accounts", "create", "free");
    const session = { ...createSession("free"), payment_status: "no_payment_required" };
    for (const _ of [1, 2]) expect(await send("checkout.session.completed", session)).toBe(204);
    expect(await sandbox.runOrThrow("credits", "statement", "free", "--json")).toContain(
      '"reference":"cs_free"',
    );
    expect(await readBalance("free")).toBe(500);
  });

  test.each([
    ["a session without metadata", "checkout.session.completed", { metadata: {} }],
    ["a session with null for metadata", "checkout.session.completed", { metadata: null }],
    ["a subscription", "checkout.session.completed", { metadata: {}, mode: "subscription" }],
    ["a charge", "charge.refunded", { object: "charge", metadata: undefined }],
    ["a customer", "customer.created", { object: "customer", metadata: undefined }],
  ])("answers 204 to an event of another product: %s", async (name, type, change) => {
    const id = `other_${name.replaceAll(" ", "_")}`;
    const session = { ...createSession("nobody"), payment_status: "paid", ...change, id };
    expect(await send(type, session)).toBe(204);
    await waitUntil(() => grants.printed().includes(`${type} ${id}: `));
  });
});

describe("offer-credits.ts", () => {
  test("makes a page at a low balance, whose payment grants credits and allows the next notice", async () => {
    await sandbox.runOrThrow("accounts", "create", "umbrella", "--credits", "2");
    await sandbox.runOrThrow("accounts", "set", "umbrella", "--low-balance", "2");
    const key = (await sandbox.runOrThrow("keys", "create", "umbrella")).trim();
    const read = () =>
      fetch(`${service.url}/api/video/channels`, { headers: { "x-api-key": key } });
    const isPaidFor = async () => (await read()).status === 200;
    expect(await isPaidFor()).toBe(true);
    await waitUntil(() => offers.printed().includes("Mail to umbrella"));
    expect(offers.printed()).toContain(
      "Mail to umbrella: 1 credits are left, buy more at https://checkout.stripe.com/c/pay/cs_test_1\n",
    );
    expect([await isPaidFor(), await isPaidFor()]).toEqual([true, false]);
    const [session] = stripe.listSessions();
    if (session === undefined) throw new Error("There is no session");
    expect(session).toMatchObject({ client_reference_id: "umbrella", mode: "payment" });
    const paid = pay(session, "pi_6");
    expect(await sendEvent(`${grants.url}/stripe`, "checkout.session.completed", paid)).toBe(204);
    expect(await isPaidFor()).toBe(true);
    expect(await readBalance("umbrella")).toBe(9999);
    expect(stripe.listSessions()).toHaveLength(1);
  }, 30_000);
});

describe("server/SELLING.md", async () => {
  const document = await readDoc("server/SELLING.md");

  test.each(["grant-payments.ts", "offer-credits.ts"])("shows the whole of %s", async (name) => {
    const code = await Bun.file(join(import.meta.dir, name)).text();
    expect(document).toContain(`\`\`\`ts\n${code}\`\`\``);
  });

  test.each([
    ["grant-payments.ts", "https://shop.example/stripe"],
    ["offer-credits.ts", "WEBHOOK_URL=http://127.0.0.1:4001/notices"],
  ])("says where %s listens", async (name, address) => {
    const code = await Bun.file(join(import.meta.dir, name)).text();
    const port = /PORT = "(\d+)"/.exec(code)?.[1] ?? "";
    const path = /routes: \{ "(\S+)"/.exec(code)?.[1] ?? "";
    expect(document).toContain(`\`http://127.0.0.1:${port}${path}\``);
    expect(document).toContain(address);
    expect(address).toContain(path);
  });

  test("names the events that grant-payments.ts handles", async () => {
    const code = await Bun.file(join(import.meta.dir, "grant-payments.ts")).text();
    const [, table = ""] = document.split("| event |");
    const events = Array.from(table.matchAll(/^\| `([a-z_.]+)` \|/gm), ([, event]) => event ?? "");
    expect(events).toHaveLength(4);
    for (const event of events) {
      const isSession = event.startsWith("checkout.session.");
      expect(code).toContain(isSession ? '"checkout.session."' : `"${event}"`);
    }
  });

  test("shows the response to a read without credits", async () => {
    await sandbox.runOrThrow("accounts", "create", "stark");
    const key = (await sandbox.runOrThrow("keys", "create", "stark")).trim();
    for (const path of ["video/channels", "microblog/nobody/details"]) {
      const headers = { "x-api-key": key };
      const response = await fetch(`${service.url}/api/${path}`, { headers });
      expect([response.status, response.headers.get("x-credits-remaining")]).toEqual([402, "0"]);
      expect(document).toContain(`\n    ${await response.text()}\n`);
    }
  });
});
