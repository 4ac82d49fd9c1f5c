/** The image: its steps and its run, in a root file system of its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { gzipSync } from "bun";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import packageJson from "../../package.json" with { type: "json" };
import { findFreePort } from "../support/network/free-port.ts";
import { ROOT } from "../support/docs.ts";
import { findChildPid } from "../support/processes/child-pid.ts";
import { buildImage, canRunImages } from "../support/processes/image.ts";
import { readJsonOutput } from "../support/processes/json-output.ts";

/** The base image, compressed: the C library, certificates and time zones. */
const BASE_BYTES = 12e6;

const containerfile = await Bun.file(join(ROOT, "Containerfile")).text();

describe("Containerfile", () => {
  test("has no fault that its linter knows", () => {
    expect(validate(containerfile)).toEqual([]);
    expect(validate(containerfile.replace("USER ", "USR "))).not.toEqual([]);
  });

  test("builds with the version of Bun that the project is tested with", () => {
    expect(containerfile).toContain(
      `FROM docker.io/oven/${packageJson.packageManager.replace("@", ":")} AS`,
    );
  });
});

describe.skipIf(!canRunImages())("the image", () => {
  let image: Awaited<ReturnType<typeof buildImage>>;
  beforeAll(async () => {
    image = await buildImage();
  }, 60_000);
  afterAll(() => image.close());

  test("has at most 100 MB, compressed", async () => {
    const bytes = gzipSync(await Bun.file(image.executable).bytes(), { level: 1 }).byteLength;
    expect(bytes + BASE_BYTES).toBeLessThan(100e6);
  });

  test("runs without rights and with a read-only root, and loses nothing by kill -9", async () => {
    const settings = { PORT: String(await findFreePort()) };
    const before = await image.listFiles();
    const checkHealth = async () => (await image.run(image.healthCommand, settings)).status;
    expect(image.volumes).toEqual(["/data"]);

    const first = image.start(["demo", "--json"], settings);
    const { url = "", key = "" } = await readJsonOutput(first);
    const pid = await findChildPid(first);
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    expect(status).toMatch(/^Uid:(?:\t65532){4}$/m);
    expect(status).toMatch(/^Gid:(?:\t65532){4}$/m);
    expect(status).toMatch(/^Groups:\s*$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) {
      expect(status).toMatch(new RegExp(`^${set}:\t0+$`, "m"));
    }
    const read = (apiKey: string) =>
      fetch(`${url}/api/video/sevenminutesoup/details`, { headers: { "x-api-key": apiKey } });
    expect((await read(key)).status).toBe(200);
    expect((await fetch(`${url}/assets/pages.js`)).status).toBe(200);
    expect(await checkHealth()).toBe(0);
    process.kill(pid, "SIGKILL");
    await first.exited;
    expect(await checkHealth()).toBe(1);

    const second = image.start(["serve", "--json"], {
      ...settings,
      DATABASE_URL: "file:/data/demo.db",
    });
    await readJsonOutput(second);
    expect((await read(key)).status).toBe(200);
    expect(await checkHealth()).toBe(0);
    const verified = await image.run(["credits", "verify"], {
      DATABASE_URL: "file:/data/demo.db",
    });
    expect([verified.status, verified.err]).toEqual([0, expect.any(String)]);
    process.kill(await findChildPid(second), image.stopSignal);
    expect(await second.exited).toBe(0);
    expect(await image.listFiles()).toEqual(before);
  }, 60_000);
});
