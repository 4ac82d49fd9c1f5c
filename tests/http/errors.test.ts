import { describe, expect, test } from "bun:test";
import { ERROR_STATUSES, isErrorCode, DomainError } from "../../core/errors.ts";
import { formatErrorResponse } from "../../server/http/errors.ts";

const CODES_BY_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: ["Invalid Pagination Parameters", "Invalid Request"],
  401: ["Missing API Key", "Invalid API Key"],
  403: ["Forbidden"],
  402: ["Insufficient Credits"],
  404: [
    "Channel Not Found",
    "Short Not Found",
    "User Not Found",
    "Tweet Not Found",
    "Creator Not Found",
    "List Not Found",
    "Page Out of Range",
    "Not Found",
  ],
  405: ["Method Not Allowed"],
  409: [
    "Creator Already Exists",
    "Creator List Full",
    "List Already Exists",
    "List Limit Reached",
    "Conflict",
  ],
  413: ["Payload Too Large"],
  415: ["Unsupported Media Type"],
  429: ["Too Many Requests"],
  500: ["Internal Error"],
  503: ["Service Unavailable"],
};

describe("formatErrorResponse()", () => {
  test("responds with the documented status of each code", () => {
    const statuses = Object.entries(CODES_BY_STATUS).flatMap(([status, names]) =>
      names.map((name): [string, number] => [name, Number(status)]),
    );
    expect<[string, number][]>(Object.entries(ERROR_STATUSES).toSorted()).toEqual(
      statuses.toSorted(),
    );
  });

  test("sets Retry-After for 503 alone", () => {
    const codes = Object.keys(ERROR_STATUSES).filter(isErrorCode);
    const retryable = codes.filter((code) => {
      const { headers } = formatErrorResponse({ code, message: "Why" }, "/api/creators");
      return headers["retry-after"] === "1";
    });
    expect(retryable).toEqual(["Service Unavailable"]);
  });

  test.each([
    ["/api/video", { error: "Not Found" }],
    ["/api/video/c", { error: "Not Found" }],
    ["/api/videos", { error: "Not Found", message: "Why" }],
    ["/api/microblog", { error: "Not Found", message: "Why" }],
  ])("formats an error of %s as its API does", (path, body) => {
    const response = formatErrorResponse(new DomainError("Not Found", "Why"), path);
    expect(JSON.parse(response.body)).toEqual(body);
  });
});
