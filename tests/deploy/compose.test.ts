/** The files for Compose: what the specification says about them, and whether their parts work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { Ajv } from "ajv";
import { readConfig, SETTINGS } from "../../server/config.ts";
import { ROOT } from "../support/docs.ts";
import { findFreePort } from "../support/network/free-port.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, SQLD_PATH } from "../support/processes/sqld.ts";
import { retryWithin } from "../support/wait.ts";
import schema from "./compose-spec.json";

interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<
    Record<string, null | { readonly ipam?: { readonly config: readonly { subnet: string }[] } }>
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const FILES = ["compose.yaml", "server/deploy/compose/cluster.yaml"] as const;
const CLUSTER = "server/deploy/compose/cluster.yaml";

const readCompose = async (file: string): Promise<ComposeFile> =>
  Bun.YAML.parse(await Bun.file(join(ROOT, file)).text()) as ComposeFile;

/** The containers of the service itself. */
const listOwn = ({ services }: ComposeFile): ComposeService[] =>
  Object.values(services).filter(({ image }) => image === "creator-metrics");

/** Secrets, in place of those in files. */
const SECRETS: Readonly<Record<string, string>> = {
  ADMIN_TOKEN: "0123456789abcdef",
  DATABASE_AUTH_TOKEN: "token",
};

describe.each(FILES)("%s", (file) => {
  test("follows the specification", async () => {
    // The name of its dialect lacks an end that validators expect; and it has formats of its own.
    const { $schema: _, ...rules } = schema;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(rules);
    expect([validate(await readCompose(file)), validate.errors]).toEqual([true, null]);
    const wrong = { services: { metrics: { image: 1 } } };
    expect(validate(wrong)).toBe(false);
  });

  test("has settings that readConfig() accepts, and each secret in a file", async () => {
    const compose = await readCompose(file);
    const own = listOwn(compose);
    expect(own.length).toBeGreaterThan(0);
    for (const { environment = {}, secrets = [] } of own) {
      const settings = Object.entries(environment).map(([name, value]): [string, string] => {
        const secret = name.replace(/_FILE$/, "");
        // Without the variable, it has this default.
        const text = value.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
        if (secret === name) return [name, text];
        expect(secrets).toContain(value.replace("/run/secrets/", ""));
        return [secret, SECRETS[secret] ?? ""];
      });
      expect(SETTINGS.map(({ name }) => name)).toEqual(
        expect.arrayContaining(settings.map(([name]) => name)),
      );
      expect(() => readConfig(Object.fromEntries(settings))).not.toThrow();
      const subnets = Object.values(compose.networks).flatMap((network) => network?.ipam?.config);
      expect(subnets).toContainEqual({ subnet: environment["TRUSTED_PROXIES"] ?? "" });
    }
  });

  test("names files, secrets and volumes that exist", async () => {
    const compose = await readCompose(file);
    const folder = join(ROOT, dirname(file));
    for (const { build, secrets = [], volumes = [] } of Object.values(compose.services)) {
      if (build) expect(existsSync(join(folder, build.context, build.dockerfile))).toBe(true);
      for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret);
      for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
        if (source.startsWith(".")) expect(existsSync(join(folder, source))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
    for (const secret of Object.values(compose.secrets)) {
      expect(normalize(join(dirname(file), secret.file))).toStartWith("data/");
    }
  });

  test("gives the service no rights and a read-only root", async () => {
    for (const service of listOwn(await readCompose(file))) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
    }
  });
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "compose-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hasCaddy = Bun.which("caddy") !== null;
if (!hasCaddy) process.stderr.write("Skipped the test of Caddy: it is not installed\n");

test.skipIf(!hasCaddy)(
  "the Caddyfile publishes the API and the pages, and nothing else",
  async () => {
    const sandbox = await openSandbox({ ADMIN_TOKEN: "0123456789abcdef" });
    const service = await sandbox.serve();
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const caddyfile = await Bun.file(join(ROOT, "server/deploy/compose/Caddyfile")).text();
    const config = join(folder, "Caddyfile");
    await Bun.write(config, `{\n\tadmin off\n}\n${caddyfile}`);
    const caddy = Bun.spawn(["caddy", "run", "--config", config, "--adapter", "caddyfile"], {
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        DOMAIN: url,
        SERVICES: service.url.replace("http://", ""),
      },
      stdio: ["ignore", "ignore", "ignore"],
    });
    const readStatus = async (path: string) => (await fetch(`${url}${path}`)).status;
    await retryWithin(10_000, async () => expect(await readStatus("/")).toBe(200));
    for (const path of ["/channels/x", "/assets/pages.js", "/swagger", "/swagger/json"]) {
      expect([path, await readStatus(path)]).toEqual([path, 200]);
    }
    expect(await readStatus("/api/account")).toBe(401);
    for (const path of ["/admin", "/admin/status", "/metrics", "/livez", "/readyz", "/apix"]) {
      expect([path, await readStatus(path)]).toEqual([path, 404]);
    }
    caddy.kill();
    await caddy.exited;
    await service.stop();
    await sandbox.close();
  },
);

const canSetUp = hasSqld() && Bun.which("curl") !== null;

test.skipIf(!canSetUp)(
  "the cluster's server starts, and its setup lets both databases sync",
  async () => {
    const { services } = await readCompose(CLUSTER);
    const [admin, http] = [await findFreePort(), await findFreePort()];
    const [, key = ""] = Bun.spawnSync([
      "openssl",
      "genpkey",
      "-algorithm",
      "ed25519",
      "-outpubkey",
      "/dev/stdout",
    ])
      .stdout.toString()
      .split(/(?=-----BEGIN PUBLIC)/);
    await Bun.write(join(folder, "token.pub"), key);
    const options = services["libsql"]?.command?.slice(1) ?? [];
    const adapt = (text: string) =>
      text
        .replaceAll("127.0.0.1:8081", `127.0.0.1:${admin}`)
        .replace("/run/secrets/token.pub", join(folder, "token.pub"));
    const server = Bun.spawn(
      [
        SQLD_PATH,
        ...options.map(adapt),
        "-d",
        join(folder, "db"),
        "--http-listen-addr",
        `127.0.0.1:${http}`,
      ],
      { stdio: ["ignore", "ignore", "ignore"] },
    );
    const [script = ""] = services["setup"]?.command ?? [];
    // Compose writes a dollar as two.
    const setUp = async () => {
      const child = Bun.spawn(["sh", "-ec", adapt(script.replaceAll("$$", "$"))], {
        stdout: "ignore",
      });
      return child.exited;
    };
    expect([await setUp(), await setUp()]).toEqual([0, 0]);
    for (const name of ["default", "entities"]) {
      const response = await fetch(`http://127.0.0.1:${admin}/v1/namespaces/${name}/config`);
      expect(await response.json()).toMatchObject({
        durability_mode: "strong",
        block_writes: false,
      });
    }
    server.kill();
    await server.exited;
  },
);
