import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createRawJson } from "../../../server/raw-json.ts";
import { encodeTable, listColumns, prefersCsv } from "../../../server/http/content/csv.ts";

describe("prefersCsv()", () => {
  test.each([
    "text/csv",
    "TEXT/CSV",
    "text/csv; charset=utf-8; header=present",
    "text/csv;q=0.1",
    "text/csv, */*;q=0.8",
    "text/csv, */*",
    "text/csv, application/json;q=0.9",
    "application/json;q=0.9,text/csv",
    "text/csv;q=0.5, application/json;q=0",
    "text/html, text/csv",
    "text/csv, application/json",
  ])("is true for %s", (accept) => {
    expect(prefersCsv(accept)).toBe(true);
  });

  test.each([
    null,
    "",
    "*/*",
    "text/*",
    "application/json",
    "application/json, text/csv",
    "text/csv;q=0.9, application/json",
    "text/csv;q=0.5, */*",
    "text/csv;q=0.5, application/*;q=0.6",
    "text/csv;q=0",
    "text/csv;q=much",
    "text/csvx",
    "application/text/csv",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "application/json, text/plain, */*",
  ])("is false for %s", (accept) => {
    expect(prefersCsv(accept)).toBe(false);
  });
});

test("listColumns() names the fields of nested objects behind a dot", () => {
  const nested = Type.Object({ views: Type.Integer(), text: Type.Object({ a: Type.String() }) });
  const item = Type.Object({ id: Type.String(), change: nested, views: Type.Integer() });
  const schema = Type.Object({ page: Type.Object({ rows: Type.Array(item) }) });
  expect(listColumns(schema, "page.rows")).toEqual([
    "id",
    "change.views",
    "change.text.a",
    "views",
  ]);
});

const decodeTable = (table: { bytes: Uint8Array }) => Buffer.from(table.bytes).toString();

test("encodeTable() writes the header, then a row for each item, however many there are", async () => {
  const table = { columns: ["a", "b.c"], fileName: "x.csv", items: "page.rows" };
  const encode = async (items: { a: number | null; b?: object | null }[]) =>
    decodeTable(await encodeTable(table, { page: { rows: items } }));
  expect(await encode([])).toBe("a,b.c\r\n");
  expect(await encode([{ a: 1, b: { c: "x" } }, { a: null, b: null }, { a: 3 }])).toBe(
    "a,b.c\r\n1,x\r\n,\r\n3,\r\n",
  );
  const items = Array.from({ length: 1234 }, (_, a) => ({ a, b: { c: -a } }));
  const expected = items.map(({ a, b }) => `${a},${b.c}\r\n`).join("");
  expect(await encode(items)).toBe(`a,b.c\r\n${expected}`);
});

test("encodeTable() lets the event loop turn at least once every 500 items", async () => {
  const numbers = Array.from({ length: 5000 }, (_, a) => ({ a }));
  const parts = [0, 1000, 2000, 3000, 4000].map((from) => ({
    rows: numbers.slice(from, from + 1000),
  }));
  const table = { columns: ["a"], fileName: "", items: "rows" };
  for (const body of [{ rows: numbers }, createRawJson(new Uint8Array(), () => parts)]) {
    const progress = { turns: 0, isDone: false };
    const count = () => {
      progress.turns++;
      if (!progress.isDone) setImmediate(count);
    };
    setImmediate(count);
    const text = decodeTable(await encodeTable(table, body));
    progress.isDone = true;
    expect(text).toBe(`a\r\n${numbers.map(({ a }) => `${a}\r\n`).join("")}`);
    expect(progress.turns).toBeGreaterThanOrEqual(9);
  }
});

describe("encodeTable()", () => {
  test.each([
    ["NASA-history.csv", 'attachment; filename="NASA-history.csv"'],
    ['a"b\\c;d.csv', `attachment; filename="a_b_c_d.csv"; filename*=UTF-8''a%22b%5Cc%3Bd.csv`],
    ["日本.csv", `attachment; filename="__.csv"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.csv`],
    ["it's (1).csv", `attachment; filename="it_s__1_.csv"; filename*=UTF-8''it%27s%20%281%29.csv`],
  ])("gives the name %s to browsers", async (fileName, disposition) => {
    const { headers } = await encodeTable({ columns: [], fileName, items: "rows" }, { rows: [] });
    expect(new Headers(headers).get("content-disposition")).toBe(disposition);
  });
});
