import { expect, test } from "bun:test";
import { openSandbox } from "../support/processes/command-line.ts";

test("the help of all verbs and settings fits in 80 columns", async () => {
  const place = await openSandbox();
  const help = await place.runOrThrow("--help");
  expect(help).toContain("BLUESKY_API_URL");
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
  await place.close();
});
