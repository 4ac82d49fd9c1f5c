/** Secrets in files, and the settings of a service behind a proxy. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, readConfig, SETTINGS } from "../server/config.ts";
import { isInNetworks } from "../server/settings.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "settings-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(text: string): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await Bun.write(path, text);
  return path;
}

function readProblems(environment: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;

/** A value of each setting that can be in a file, and where its text is in the settings. */
const VALUES: Readonly<Record<string, readonly [text: string, others?: Record<string, string>]>> = {
  DATABASE_URL: ["http://db.example?authToken=s3cret"],
  ENTITIES_URL: ["http://other.example", { DATABASE_URL: "http://db.example" }],
  DATABASE_REPLICA: ["file:replica.db", { DATABASE_URL: "http://db.example" }],
  DATABASE_AUTH_TOKEN: ["s3cret"],
  ADMIN_TOKEN: ["0123456789abcdef"],
  METRICS_TOKEN: ["0123456789abcdef"],
  WEBHOOK_URL: ["https://shop.example/hooks/s3cret", { WEBHOOK_SECRET }],
  WEBHOOK_SECRET: [WEBHOOK_SECRET],
  YOUTUBE_API_KEY: ["s3cret-key"],
  X_BEARER_TOKEN: ["s3cret-token"],
};

describe("readConfig() with secrets in files", () => {
  test("every setting with a secret can be in a file, and no other", () => {
    const secret = SETTINGS.filter((setting) => setting.secret !== undefined);
    expect(secret.map(({ name }) => name)).toEqual(Object.keys(VALUES));
    const others = SETTINGS.filter(({ name }) => /TOKEN|KEY|SECRET|PASSWORD/.test(name));
    expect(others.filter((setting) => setting.secret === undefined)).toEqual([]);
    expect(readConfig({ PORT_FILE: "/nowhere" }).port).toBe(3000);
  });

  test.each(Object.entries(VALUES))("reads %s_FILE as %s", async (name, [text, others = {}]) => {
    const expected = JSON.stringify(readConfig({ ...others, [name]: text }));
    for (const end of ["", "\n", "\r\n", "\n\n"]) {
      const file = await write(text + end);
      expect(JSON.stringify(readConfig({ ...others, [`${name}_FILE`]: file }))).toBe(expected);
    }
  });

  test("reads a pipe, as a shell makes for <(command)", async () => {
    const program =
      `import { readConfig } from ${JSON.stringify(join(import.meta.dir, "../server/config.ts"))};` +
      "console.log(readConfig(process.env).adminToken);";
    const command = `ADMIN_TOKEN_FILE=<(echo 0123456789abcdef) exec "$0" -e "$1"`;
    const child = Bun.spawn(["bash", "-c", command, process.execPath, program]);
    expect(await child.stdout.text()).toBe("0123456789abcdef\n");
  });

  test("an empty NAME_FILE is not set, and WEBHOOK_URL takes a secret in a file", async () => {
    expect(readProblems({ ADMIN_TOKEN_FILE: "", ADMIN_TOKEN: "0123456789abcdef" })).toEqual([]);
    const environment = { WEBHOOK_URL: "https://shop.example/", WEBHOOK_SECRET_FILE: "/nowhere" };
    expect(readProblems(environment)).toEqual([
      "WEBHOOK_SECRET_FILE: Cannot read /nowhere: ENOENT: no such file or directory, open '/nowhere'",
    ]);
  });

  test("names what is wrong with a file, its path, and each wrong setting", async () => {
    const file = await write("0123456789abcdef\n");
    expect(readProblems({ ADMIN_TOKEN: "0123456789abcdef", ADMIN_TOKEN_FILE: file })).toEqual([
      "ADMIN_TOKEN_FILE: ADMIN_TOKEN is set, too: remove one of them",
    ]);
    const empty = await write("\n");
    const [faultOfFolder = "", ...others] = readProblems({
      ADMIN_TOKEN_FILE: folder,
      X_BEARER_TOKEN_FILE: empty,
      PORT: "x",
    }).toSorted();
    expect(faultOfFolder).toStartWith(`ADMIN_TOKEN_FILE: Cannot read ${folder}: `);
    expect(others).toEqual([
      'PORT must be a whole number from 0 to 65535, got "x"',
      `X_BEARER_TOKEN_FILE: ${empty} is empty`,
    ]);
  });

  test("never shows a secret of a file, and reads none without an end", async () => {
    const file = await write("s3cret s3cret");
    expect(readProblems({ ADMIN_TOKEN_FILE: file }).join()).toEndWith(", got something else");
    // The file can be that of another secret.
    expect(readProblems({ WEBHOOK_URL_FILE: file }).join()).toEndWith(", got something else");
    const url = await write("postgres://user:s3cret@db.example");
    expect(readProblems({ DATABASE_URL_FILE: url }).join()).not.toContain("s3cret");
    expect(readProblems({ ADMIN_TOKEN_FILE: "/dev/zero" })).toEqual([
      "ADMIN_TOKEN_FILE: /dev/zero has more than 65536 bytes",
    ]);
  });
});

describe("PUBLIC_URL", () => {
  test.each([
    ["https://metrics.example.com", "https://metrics.example.com"],
    ["https://metrics.example.com/", "https://metrics.example.com"],
    ["https://example.com/creators", "https://example.com/creators"],
    ["https://Example.com:443/A/b-c.d_e~f/", "https://example.com/A/b-c.d_e~f"],
    ["http://[::1]:8080/x", "http://[::1]:8080/x"],
  ])("%s is %s", (PUBLIC_URL, expected) => {
    expect(readConfig({ PUBLIC_URL }).publicUrl).toBe(expected);
  });

  test.each([
    "metrics.example.com",
    "ftp://example.com",
    "https://",
    "https://user@example.com",
    "https://example.com?a",
    "https://example.com/a?b",
    "https://example.com/a#b",
    "https://example.com//a",
    "https://example.com/a//",
    "https://example.com/a/../b",
    "https://example.com/..",
    "https://example.com/.",
    "https://example.com/a%2Fb",
    "https://example.com/ä",
    String.raw`https://example.com\a`,
    "https://example.com/a b",
    "https://exa mple.com",
    "https://example.com:99999/",
  ])("must not be %s", (PUBLIC_URL) => {
    expect(readProblems({ PUBLIC_URL }).join()).toStartWith("PUBLIC_URL must be an http or https");
  });
});

describe("TRUSTED_PROXIES", () => {
  test.each([
    ["127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], ["127.0.0.2", "::1", "unknown", ""]],
    ["10.0.0.0/8, fd00::/8", ["10.1.2.3", "fd12::1"], ["11.0.0.1", "fe80::1"]],
    ["10.9.9.9/8", ["10.1.2.3"], ["11.0.0.1"]],
    ["::1", ["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["11.0.0.1", "::1"]],
    ["", [], ["127.0.0.1", "::1"]],
  ])("%p trusts %p and not %p", (TRUSTED_PROXIES, trusted, others) => {
    const { trustedProxies } = readConfig({ TRUSTED_PROXIES });
    const isTrusted = (address: string) => isInNetworks(trustedProxies, address);
    expect(trusted.filter((address) => !isTrusted(address))).toEqual([]);
    expect(others.filter(isTrusted)).toEqual([]);
  });

  test.each([
    "proxy.example",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/08",
    "::1/129",
    "::ffff:10.0.0.0/95",
    "10.0.0",
    "0x7f.1",
    "10.0.0.1,",
    "*",
  ])("must not be %s", (TRUSTED_PROXIES) => {
    expect(readProblems({ TRUSTED_PROXIES }).join()).toStartWith(
      "TRUSTED_PROXIES must be addresses and networks such as",
    );
  });
});
