/** Real nginx and HAProxy in front of a service, which pass on only the paths that they are told. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../network/free-port.ts";
import { waitUntil } from "../wait.ts";

/** What a proxy needs: where it listens, what is behind it, and the paths it passes on. */
interface ProxySettings {
  readonly port: number;
  readonly backend: string;
  readonly publicPaths: readonly string[];
  readonly folder: string;
}

const PROXIES = {
  nginx: {
    program: "/usr/sbin/nginx",
    getArguments: (file: string) => ["-c", file, "-e", "stderr"],
    createConfig: ({ port, backend, publicPaths, folder }: ProxySettings) => `
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
        server {
          listen 127.0.0.1:${port};
          location / { return 403; }
          ${publicPaths.map((path) => `location ${path} { proxy_pass http://${backend}; }`).join("\n")}
        }
      }
    `,
  },
  haproxy: {
    program: "/usr/sbin/haproxy",
    getArguments: (file: string) => ["-db", "-q", "-f", file],
    createConfig: ({ port, backend, publicPaths }: ProxySettings) =>
      [
        "defaults",
        "  mode http",
        "  timeout connect 5s",
        "  timeout client 30s",
        "  timeout server 30s",
        "frontend public",
        `  bind 127.0.0.1:${port}`,
        `  http-request deny unless { path_beg ${publicPaths.join(" ")} }`,
        "  default_backend service",
        "backend service",
        `  server service ${backend}`,
        "",
      ].join("\n"),
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

/** Starts a proxy that passes on the paths which begin with one of `publicPaths`, and no others. */
export async function startProxy(name: ProxyName, backend: string, publicPaths: readonly string[]) {
  const { program, createConfig, getArguments } = PROXIES[name];
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const port = findFreePort();
  const file = join(folder, "proxy.conf");
  const settings = { port, backend: new URL(backend).host, publicPaths, folder };
  await Bun.write(file, createConfig(settings));
  const child = Bun.spawn([program, ...getArguments(file)], { stdout: "ignore", stderr: "pipe" });
  const close = async () => {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(address).catch(() => undefined)) !== undefined;
  await waitUntil(async () => child.exitCode !== null || (await isUp()), 10_000).catch(
    () => undefined,
  );
  if (await isUp()) return { address, close };
  await close();
  throw new Error(`${name} did not start: ${await child.stderr.text()}`);
}
