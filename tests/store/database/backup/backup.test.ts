import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { backUp } from "../../../../server/store/database/backup/backup.ts";
import { resultOrError, withDatabase } from "../../../support/store/database.ts";

describe("backUp()", () => {
  test("overwrites no file, not even one that is created while it copies", async () => {
    await withDatabase(async (database, file) => {
      const target = `${file}.copy`;
      const backing = backUp({ ledger: database, entities: database }, target);
      writeFileSync(target, "precious");
      expect(await resultOrError(backing)).toEqual([
        "Conflict",
        `${target} already exists; name a new file`,
      ]);
      expect(await Bun.file(target).text()).toBe("precious");
      expect(readdirSync(dirname(file)).filter((name) => name.includes(".part"))).toEqual([]);
    });
  });
});
