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
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

const METRICS_TOKEN = "a-token-of-an-administrator";

/** Starts a program of this folder. */
async function startProgram(name: string, settings: Readonly<Record<string, string>>) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, name)], {
    env: { PATH: process.env["PATH"] ?? "", METRICS_TOKEN, PORT: "0", ...settings },
    stdout: "pipe",
    stderr: "ignore",
  });
  let printed = "";
  const done = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  await waitUntil(() => printed.includes("\n"));
  return {
    url: /Listening at (\S+)/.exec(printed)?.[1] ?? "",
    printed: () => printed,
    async stop() {
      child.kill();
      await done;
    },
  };
}

type Program = Awaited<ReturnType<typeof startProgram>>;

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let grants: Program;
let offers: Program;
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
  grants = await startProgram("grant-payments.ts", { METRICS_URL, STRIPE_SECRET });
  offers = await startProgram("offer-credits.ts", {
    METRICS_URL,
    PORT,
    STRIPE_KEY,
    STRIPE_PRICE: "price_1",
    STRIPE_URL: stripe.url,
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
    const charge = {
      id: "ch_5",
      object: "charge",
      amount: 1000,
      amount_refunded: 1000,
      metadata: { account: "hooli" },
      payment_intent: "pi_5",
      refunded: true,
    };
    expect(await send("charge.refunded", charge)).toBe(204);
    const dispute = { id: "dp_5", object: "dispute", metadata: {}, payment_intent: "pi_5" };
    expect(await send("charge.dispute.created", dispute)).toBe(204);
    await waitUntil(() => grants.printed().includes("charge.dispute.created pi_5 unknown account"));
    expect(grants.printed()).toContain("charge.refunded pi_5 hooli\n");
    expect(await readBalance("hooli")).toBe(500);
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

  test("answers 400 to a notice that is not signed", async () => {
    const url = `http://127.0.0.1:${PORT}/notices`;
    const response = await fetch(url, { method: "POST", body: "{}" });
    expect(response.status).toBe(400);
  });
});

describe("server/SELLING.md", async () => {
  const document = await readDoc("server/SELLING.md");

  test.each(["grant-payments.ts", "offer-credits.ts"])("shows the whole of %s", async (name) => {
    const code = await Bun.file(join(import.meta.dir, name)).text();
    expect(document).toContain(`\`\`\`ts\n${code}\`\`\``);
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
