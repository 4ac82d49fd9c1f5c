/** Real nginx, HAProxy and Caddy in front of a service, with the files of server/deploy/proxies. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../network/free-port.ts";
import { waitUntil } from "../wait.ts";
import { ROOT } from "./command-line.ts";

/** The path of PUBLIC_URL in the files. */
export const EXAMPLE_PREFIX = "/creator-metrics";

export const readExample = (name: string): Promise<string> =>
  Bun.file(join(ROOT, "server/deploy/proxies", name)).text();

interface Place {
  readonly port: number;
  readonly folder: string;
}

/** nginx without TLS, on a port of its own; the file is a part of its `http`. */
const adaptNginx = (text: string, { port, folder }: Place): string => `
  daemon off;
  master_process off;
  pid ${folder}/nginx.pid;
  events {}
  http {
    access_log off;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    ${text
      .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
      .replace("listen [::]:443 ssl;", "")
      .replaceAll(/ssl_certificate.*;/g, "")}
  }
`;

const NGINX = {
  program: "/usr/sbin/nginx",
  getArguments: (file: string) => ["-c", file, "-e", "stderr"],
  adapt: adaptNginx,
};

const PROXIES = {
  nginx: { ...NGINX, example: "nginx.conf" },
  "nginx with a login": { ...NGINX, example: "nginx-oauth2.conf" },
  haproxy: {
    program: "/usr/sbin/haproxy",
    example: "haproxy.cfg",
    getArguments: (file: string) => ["-db", "-q", "-f", file],
    adapt: (text: string, { port }: Place) =>
      text.replace(/bind :443 .*/, `bind 127.0.0.1:${port}`),
  },
  caddy: {
    program: "/usr/bin/caddy",
    example: "Caddyfile",
    getArguments: (file: string) => ["run", "--config", file, "--adapter", "caddyfile"],
    adapt: (text: string, { port }: Place) =>
      "{\n\tadmin off\n\tauto_https off\n}\n" +
      text.replace("example.com {", `http://:${port} {\n\tbind 127.0.0.1`),
  },
};

export type ProxyName = keyof typeof PROXIES;

/** Whether a proxy is installed. Prints a note if it is not. */
export function hasProxy(name: ProxyName): boolean {
  const { program } = PROXIES[name];
  if (existsSync(program)) return true;
  process.stderr.write(`Skipped the tests behind ${name}: ${program} does not exist\n`);
  return false;
}

/**
 * Starts a proxy with its file of server/deploy/proxies.
 *
 * @param options What takes the place of the addresses and of the prefix in the file.
 */
export async function startProxy(
  name: ProxyName,
  options: {
    /** The address of the service, with its prefix. */
    readonly backend: string;
    readonly login?: string;
  },
) {
  const { program, example, adapt, getArguments } = PROXIES[name];
  const { host, pathname } = new URL(options.backend);
  const prefix = pathname === "/" ? "" : pathname;
  const text = (await readExample(example))
    .replaceAll("127.0.0.1:3000", host)
    .replaceAll(EXAMPLE_PREFIX, prefix)
    .replaceAll("127.0.0.1:4180", new URL(options.login ?? options.backend).host);
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  const port = findFreePort();
  const file = join(folder, "proxy.conf");
  await Bun.write(file, adapt(text, { port, folder }));
  const child = Bun.spawn([program, ...getArguments(file)], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdout: "ignore",
    stderr: "pipe",
  });
  const close = async () => {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true });
  };
  const origin = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(origin).catch(() => undefined)) !== undefined;
  await waitUntil(async () => child.exitCode !== null || (await isUp()), 10_000).catch(
    () => undefined,
  );
  if (await isUp()) return { address: origin + prefix, close };
  await close();
  throw new Error(`${name} did not start: ${await child.stderr.text()}`);
}
