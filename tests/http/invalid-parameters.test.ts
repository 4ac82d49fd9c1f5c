/** Sends invalid values of every query parameter that the OpenAPI document declares. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

interface Schema {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

type Operations = Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>;

let service: TestService;
let parameters: { readonly path: string; readonly parameter: Parameter }[];
beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT: "100000", ADMIN_TOKEN });
  const response = await fetch(`${service.address}/swagger/json`);
  const { paths } = (await response.json()) as { readonly paths: Record<string, Operations> };
  parameters = Object.entries(paths).flatMap(([path, operations]) =>
    (operations["get"]?.parameters ?? [])
      // Only the identifiers of an export may be repeated.
      .filter((parameter) => parameter.in === "query" && parameter.name !== "id")
      .map((parameter) => ({ path, parameter })),
  );
});
afterAll(() => service.close());

const NO_INSTANTS = ["yesterday", "2026-02-30", "1795000000000", "2026-11-20T25:00:00Z", "-1"];

/** Values that a schema does not allow, and a part of the message that says what it allows. */
function listInvalidValues({
  name,
  schema,
}: Parameter): readonly [values: string[], allowed: string] {
  if (schema.type === "integer") {
    const { minimum = 0, maximum = 0 } = schema;
    const outside = [String(minimum - 1), maximum + 1 > maximum ? String(maximum + 1) : "1e99"];
    return [[...outside, "", "1.5", "1e1", " 1", "+1", "0x1", "one", "NaN"], `${maximum}`];
  }
  if (schema.enum !== undefined) {
    const [first = ""] = schema.enum;
    return [
      ["", "nope", first.toUpperCase(), `${first} `, `${first},${first}`],
      schema.enum.join(", "),
    ];
  }
  if (schema.format === "date") return [["", ...NO_INSTANTS], "day"];
  if (name === "zone") return [["", "Mars", "Europe", "+02:00", "UTC "], "IANA name"];
  if (schema.pattern !== undefined) return [["", ...NO_INSTANTS], "ISO 8601"];
  if (name === "cursor") return [["", "!", "a b", "%00", "-".repeat(3000)], "cursor"];
  return [["", "\u0000", "x".repeat((schema.maxLength ?? 0) + 1)], name];
}

describe("every query parameter of the OpenAPI document", () => {
  test("400: an invalid value is rejected with what is allowed, and costs nothing", async () => {
    const { account, key } = await service.createAccountWithKey(1000);
    expect(parameters.length).toBeGreaterThan(50);
    for (const { path, parameter } of parameters) {
      const [values, allowed] = listInvalidValues(parameter);
      const known = path.replace("{channel}", "c").replaceAll(/\{\w+\}/g, "x");
      // A comparison needs names; the usage and the statement of an account need its name.
      const needed = [
        ...(path === "/api/video/compare" ? ["channels=a"] : []),
        ...(path === "/api/microblog/compare" ? ["usernames=a"] : []),
        ...(/compare-(?:shorts|tweets)$/.test(path) ? ["ids=a"] : []),
        ...(parameter.name === "step" ? ["by=age"] : []),
        ...(/^\/admin\/(?:usage|statement)$/.test(path) ? [`account=${account}`] : []),
      ];
      const others = needed
        .filter((pair) => !pair.startsWith(`${parameter.name}=`))
        .map((pair) => `${pair}&`)
        .join("");
      const queries = values.map((value) => `${parameter.name}=${encodeURIComponent(value)}`);
      const [query = ""] = queries;
      for (const text of [...queries, `${query}&${query}`]) {
        const headers = path.startsWith("/admin/")
          ? { authorization: `Bearer ${ADMIN_TOKEN}` }
          : {};
        const response = await service.get(`${known}?${others}${text}`, key, { headers });
        const body = await response.text();
        expect([path, text, response.status, body]).toEqual([
          path,
          text,
          400,
          expect.stringContaining(parameter.name),
        ]);
        if (!text.includes("&"))
          expect([path, text, body]).toEqual([path, text, expect.stringContaining(allowed)]);
      }
    }
    expect(await service.readSums(account)).toEqual({ balance: 1000, debited: 0, refunded: 0 });
  });
});
