import { expect, test } from "bun:test";
import { openPlace } from "../support/command.ts";

test("the help of all verbs and settings fits in 80 columns", async () => {
  const place = await openPlace();
  const help = await place.must("--help");
  expect(help).toContain("BLUESKY_API_URL");
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
  await place.close();
});
