/** Sends every example of the administration API in the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_MAX_BYTES } from "../../../server/http/request-body.ts";
import {
  addToQuery,
  buildPath,
  listOperations,
  type DescribedOperation,
  type OpenApiDocument,
} from "../../support/openapi-examples.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

const settings = { ADMIN_TOKEN, COLLECT: "off" };
const service = await startTestService(settings);
/** Where each example request succeeded before, so that it is a conflict. */
const usedService = await startTestService(settings);
const closedService = await startTestService();
afterAll(async () => {
  for (const { close } of [service, usedService, closedService]) await close();
});

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;
const OPERATIONS = listOperations(document).filter(([, { path }]) => path.startsWith("/admin/"));

/** The operations, in an order in which all succeed. */
const ORDER: readonly string[] = [
  "adminCreateAccount",
  "adminChangeAccount",
  "adminListAccounts",
  "adminRotateKey",
  "adminCreateKey",
  "adminListKeys",
  "adminRevokeKey",
  "adminGrantCredits",
  "adminGetUsage",
  "adminGetStatement",
  "adminVerify",
  "adminApplyRefunds",
  "adminListNotices",
  "adminResendNotice",
  "adminCollect",
  "adminAddCreator",
  "adminListCreators",
  "adminRemoveCreator",
  "adminTrackChannel",
  "adminListChannels",
  "adminUntrackChannel",
  "adminImportObservations",
  "adminExportObservations",
  "adminApplyRetention",
  "adminBackUp",
  "adminListBackups",
  "adminDownloadBackup",
  "adminDeleteBackup",
  "adminOpenSession",
  "adminEndSessions",
  "adminGetStatus",
  "adminListAudit",
];

/** Inserts a notice with the id of the examples. */
async function insertNotice({ service: { database } }: TestService, deliveredAt: string | null) {
  await database.write([
    {
      sql: `
        INSERT INTO notices (id, account, balance, threshold, granted, at, delivered_at)
        VALUES ('msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7', 1, 9, 10, 10, 0, ?)`,
      args: [deliveredAt === null ? null : Date.parse(deliveredAt)],
    },
  ]);
}
await insertNotice(service, null);
await insertNotice(usedService, "2026-11-21T03:07:01.000Z");

function getExampleBody({ operation }: DescribedOperation): unknown {
  const [content] = Object.values(operation.requestBody?.content ?? {});
  return content === undefined ? undefined : Object(content).example;
}

function send(
  to: TestService,
  described: DescribedOperation,
  { path = buildPath(described), body = getExampleBody(described), headers = {} } = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return to.send(path, {
    method: described.method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
      ...headers,
    },
    body: body === undefined ? null : text,
  });
}

const find = (id: string): DescribedOperation => {
  const described = Object.fromEntries(OPERATIONS)[id];
  if (described === undefined) throw new Error(`There is no operation ${id}`);
  return described;
};

describe("the administration API in /swagger/json", () => {
  test("has every operation of the service, with the bearer token, in one section", () => {
    expect(OPERATIONS.map(([id]) => id).toSorted()).toEqual(ORDER.toSorted());
    for (const [, { operation }] of OPERATIONS) {
      expect(Object(operation)).toMatchObject({
        tags: ["Administration"],
        security: [{ adminToken: [] }],
      });
    }
    expect(Object(document.components)).toMatchObject({
      securitySchemes: { adminToken: { type: "http", scheme: "bearer" } },
    });
  });

  // send() compares each response with the document: status, headers and body.
  test("the example requests of all operations, sent in ORDER, succeed as they say", async () => {
    for (const id of ORDER) {
      const { operation } = find(id);
      const response = await send(service, find(id));
      const statuses = Object.keys(operation.responses).filter((status) => status < "300");
      expect({ id, statuses }).toEqual({
        id,
        statuses: expect.arrayContaining([String(response.status)]),
      });
      const type = response.headers.get("content-type") ?? "";
      const types = Object.keys(operation.responses[response.status]?.content ?? {});
      expect([id, types.some((documented) => type.startsWith(documented))]).toEqual([id, true]);
    }
  });

  test("adminExportObservations responds with the example as CSV", async () => {
    expect((await send(service, find("adminImportObservations"))).ok).toBe(true);
    const described = find("adminExportObservations");
    const path = addToQuery(addToQuery(buildPath(described), "kind=channel"), "format=csv");
    const response = await send(service, described, { path });
    const { example } = described.operation.responses["200"]?.content?.["text/csv"] ?? {};
    expect(await response.text()).toBe(example ?? "");
  });
});

/** Errors that these requests cannot cause. Other tests do: rate limits, failures, large bodies. */
const SKIPPED =
  /TooManyRequests|InternalError|ServiceUnavailable|CreatorListFull|100 sessions|67108864|broke off/;

const ERRORS = OPERATIONS.flatMap(([id, described]) =>
  Object.entries(described.operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { content }]) =>
      Object.entries(content?.["application/json"]?.examples ?? {}).flatMap(([name, { value }]) => {
        const { message } = Object(value) as { message: string };
        const isSkipped = SKIPPED.test(name) || SKIPPED.test(message);
        return isSkipped ? [] : [[`${id} ${name}`, { described, status, value, message }] as const];
      }),
    ),
);

/** Sends a request that causes an error; the status and the message say which. */
function provoke(described: DescribedOperation, status: string, message: string) {
  const body: unknown = getExampleBody(described);
  const path = buildPath(described);
  const [, unknown] = /query parameters.*, got "(\w+)"/.exec(message) ?? [];
  if (unknown !== undefined) {
    return send(usedService, described, { path: addToQuery(path, `${unknown}=1`) });
  }
  if (message.startsWith("There is no path")) return send(closedService, described);
  if (status === "401") {
    const token = message.startsWith("Send") ? "" : "Bearer wrong";
    usedService.clock.now += 60_000;
    return send(usedService, described, { headers: { authorization: token } });
  }
  if (status === "413") {
    return send(usedService, described, { body: "x".repeat(BODY_MAX_BYTES + 1) });
  }
  if (status === "415") {
    return send(usedService, described, { headers: { "content-type": "text/plain" } });
  }
  if (status === "409") {
    const changed = described.path === "/admin/grants" ? { amount: 6000 } : {};
    return send(usedService, described, { body: { ...Object(body), ...changed } });
  }
  const [, field = "", quoted] = /^(\w+)\b.*, got (.*)$/.exec(message) ?? [];
  const isMissing = quoted === undefined;
  const [, missing = ""] = /(@?nobody|999)/.exec(message) ?? [];
  const value: unknown = isMissing ? missing : JSON.parse(quoted);
  if (described.path === "/admin/notices/{id}/resend") {
    const id = isMissing ? `msg_${"9".repeat(32)}` : String(value);
    return send(usedService, described, { path: buildPath(described, { id }) });
  }
  if (described.path === "/admin/backups/{file}") {
    return send(usedService, described, { path: buildPath(described, { file: missing }) });
  }
  if (body === undefined) {
    const name = isMissing ? "account" : field;
    const base = path.replace(new RegExp(`[?&]${name}=\\w+`), "");
    const query = `${name}=${encodeURIComponent(String(value))}`;
    return send(usedService, described, { path: addToQuery(base, query) });
  }
  if (missing === "999" && described.path.includes("{id}")) {
    return send(usedService, described, { path: buildPath(described, { id: "999" }) });
  }
  const names = ["account", "name", "creator", "channel", "file", "id"];
  const name = isMissing ? names.find((key) => key in Object(body)) : field;
  const given = missing === "999" ? 999 : value;
  return send(usedService, described, { body: { ...Object(body), [String(name)]: given } });
}

describe("the example error of the administration API", () => {
  beforeAll(async () => {
    for (const id of [
      "adminCreateAccount",
      "adminRotateKey",
      "adminGrantCredits",
      "adminTrackChannel",
      "adminBackUp",
    ]) {
      expect((await send(usedService, find(id))).ok).toBe(true);
    }
  });

  // Each wrong token takes half a second: one operation stands for all.
  const isSampled = (name: string) =>
    !name.endsWith("InvalidAPIKey") || name.startsWith("adminListAccounts");

  test.each(ERRORS.filter(([name]) => isSampled(name)))(
    "%s is the response to its cause",
    async (_, { described, status, value, message }) => {
      const response = await provoke(described, status, message);
      expect({ status: String(response.status), body: await response.json() }).toEqual({
        status,
        body: value,
      });
    },
  );
});
