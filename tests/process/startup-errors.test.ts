/** Addresses and folders that cannot be used: what a verb says of them, and that it leaves them alone. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

const VERBS = [["serve"], ["accounts list"]];

let sandbox: Sandbox;
afterEach(() => sandbox.close());

describe("DATABASE_URL that names a folder", () => {
  beforeEach(async () => {
    sandbox = await openSandbox({ DATABASE_URL: "file:folder" });
  });

  test.each(VERBS)("makes %s exit with 1 and a message, and changes nothing", async (verb) => {
    const folder = join(sandbox.folder, "folder");
    await mkdir(folder);
    await chmod(folder, 0o755);
    const { status, err } = await sandbox.run(verb.split(" "));
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    const names = await readdir(sandbox.folder);
    expect(names.filter((name) => name.startsWith("folder"))).toEqual(["folder"]);
    expect([status, err]).toEqual([
      1,
      `${folder} is a folder; set DATABASE_URL to a file in it: file:${folder}/metrics.db\n`,
    ]);
  });
});

describe("DATABASE_URL whose folder cannot be created", () => {
  beforeEach(async () => {
    sandbox = await openSandbox({ DATABASE_URL: "file:taken/data/metrics.db" });
  });

  test.each(VERBS)("makes %s exit with 1 and a message", async (verb) => {
    await sandbox.write("taken", "a file");
    const { status, err } = await sandbox.run(verb.split(" "));
    const folder = join(sandbox.folder, "taken/data");
    expect(status).toBe(1);
    expect(err).toStartWith(
      `The folder of the database, ${folder}, cannot be made; make it yourself, or set ` +
        "DATABASE_URL to a file elsewhere: ENOTDIR: ",
    );
    expect(err.trimEnd()).not.toContain("\n");
  });
});

describe("serve", () => {
  beforeEach(async () => {
    sandbox = await openSandbox({ HOST: "192.0.2.1" });
  });

  test("exits with 1 and a message when HOST is no address of this machine", async () => {
    const { status, err } = await sandbox.run(["serve"]);
    expect(status).toBe(1);
    expect(err).toStartWith(
      "Cannot listen at port 0 of 192.0.2.1; set HOST to an address of this machine, and PORT to a " +
        "port that you may use: ",
    );
    expect(err.trimEnd()).not.toContain("\n");
  });
});

describe("backup", () => {
  beforeEach(async () => {
    sandbox = await openSandbox();
  });

  test("exits with 1 and a message when the folder of its file does not exist", async () => {
    const { status, err } = await sandbox.run(["backup", "nowhere/copy.db"]);
    expect([status, err]).toEqual([
      1,
      `The folder ${join(sandbox.folder, "nowhere")} does not exist; create it, or name a file elsewhere\n`,
    ]);
  });
});
