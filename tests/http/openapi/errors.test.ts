/** The names of errors: those of the OpenAPI document, of the statuses and of the client. */
import { afterAll, describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { createMetricsError } from "../../../core/client/errors.ts";
import { ERROR_STATUSES, isErrorCode, type ErrorCode } from "../../../core/errors.ts";
import { listOperations, type OpenApiDocument } from "../../support/openapi-examples.ts";
import { startTestService } from "../../support/service.ts";

const { address, close } = await startTestService();
afterAll(close);

const document = (await (await fetch(`${address}/swagger/json`)).json()) as OpenApiDocument;

const ALL_NAMES = Object.keys(ERROR_STATUSES).filter(isErrorCode);

/** A documented error response: its status, its schema, and its examples by name. */
const RESPONSES = listOperations(document).flatMap(([id, { path, operation }]) =>
  Object.entries(operation.responses).flatMap(([status, { content }]) => {
    const { schema, examples } = content?.["application/json"] ?? {};
    if (Number(status) < 400 || schema === undefined || examples === undefined) return [];
    const isVideo = path.startsWith("/api/video/");
    return [[`${id} ${status}`, { status: Number(status), schema, examples, isVideo }] as const];
  }),
);

/** The body of an error with a name, as the service would send it. */
function createBody(name: ErrorCode, isVideo: boolean) {
  if (!isVideo) return { error: name, message: "Why" };
  if (name === "Channel Not Found") return { error: "Channel a\nb not found" };
  if (name === "Short Not Found") return { error: "Short a not found for channel b" };
  return { error: ERROR_STATUSES[name] === 400 ? `${name}: Why` : name };
}

describe("/swagger/json", () => {
  const ajv = new Ajv2020({ strict: false });

  test.each(RESPONSES)(
    "%s accepts the errors that it gives examples of, and no others",
    (...row) => {
      const [, { schema, examples, isVideo }] = row;
      const accepts = ajv.compile(schema);
      const named = Object.keys(examples).map((name) => name.replace(/\d+$/, ""));
      const accepted = ALL_NAMES.filter((name) => accepts(createBody(name, isVideo)));
      expect(accepted.map((name) => name.replaceAll(" ", "")).toSorted()).toEqual(
        Array.from(new Set(named)).toSorted(),
      );
      expect(accepts({ error: "Teapot", message: "Why" })).toBe(false);
    },
  );

  test("has the names of ERROR_STATUSES, in the schema of every error but those of /api/video", () => {
    const { ServiceError } = document.components.schemas;
    expect(ServiceError).toMatchObject({
      properties: { error: { enum: ALL_NAMES } },
    });
  });
});

test.each(RESPONSES)("createMetricsError() reads the names of %s", (_, { status, examples }) => {
  for (const [name, { value }] of Object.entries(examples)) {
    const { code } = createMetricsError(JSON.stringify(value), { status, requestId: null });
    expect(code.replaceAll(" ", "")).toBe(name.replace(/\d+$/, ""));
    expect<number>(isErrorCode(code) ? ERROR_STATUSES[code] : 0).toBe(status);
  }
});

test("createMetricsError() gives the body of a proxy the most general name of its status, or the status", () => {
  const names = [400, 401, 404, 409, 422, 429, 500, 502, 503, 504].map(
    (status) => createMetricsError("<html>", { status, requestId: "7" }).code,
  );
  expect(names).toEqual([
    "Invalid Request",
    "Invalid API Key",
    "Not Found",
    "Conflict",
    "Status 422",
    "Too Many Requests",
    "Internal Error",
    "Service Unavailable",
    "Service Unavailable",
    "Service Unavailable",
  ]);
});
