import { describe, expect, test } from "bun:test";
import { DomainError, ERROR_CODES } from "../../core/errors.ts";
import { formatErrorResponse, ERROR_STATUSES } from "../../server/http/errors.ts";

/** As the decisions list them. */
const CODES_BY_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: ["Invalid Pagination Parameters", "Invalid Request"],
  401: ["Missing API Key", "Invalid API Key"],
  402: ["Insufficient Credits"],
  404: [
    "Channel Not Found",
    "Short Not Found",
    "User Not Found",
    "Tweet Not Found",
    "Creator Not Found",
    "Page Out of Range",
    "Not Found",
  ],
  405: ["Method Not Allowed"],
  409: ["Creator Already Exists", "Creator List Full", "Conflict"],
  413: ["Payload Too Large"],
  415: ["Unsupported Media Type"],
  429: ["Too Many Requests"],
  500: ["Internal Error"],
  503: ["Service Unavailable"],
};

describe("formatErrorResponse()", () => {
  test("has the status that each error is decided to have", () => {
    const statuses = Object.entries(CODES_BY_STATUS).flatMap(([status, names]) =>
      names.map((name): [string, number] => [name, Number(status)]),
    );
    expect(Object.entries(ERROR_STATUSES).toSorted()).toEqual(statuses.toSorted());
  });

  test("says when to try again what is unavailable, and of nothing else", () => {
    const told = ERROR_CODES.filter((code) => {
      const { headers } = formatErrorResponse(new DomainError(code, "Why"), "/api/creators");
      return headers["retry-after"] === "1";
    });
    expect(told).toEqual(["Service Unavailable"]);
  });

  test.each([
    ["/api/video", { error: "Not Found" }],
    ["/api/video/c", { error: "Not Found" }],
    ["/api/videos", { error: "Not Found", message: "Why" }],
    ["/api/microblog", { error: "Not Found", message: "Why" }],
  ])("writes an error of %s as its interface does", (path, body) => {
    const answer = formatErrorResponse(new DomainError("Not Found", "Why"), path);
    expect(JSON.parse(answer.body)).toEqual(body);
  });
});
