/**
 * The command `serve`: recovers refunds, warns of unsafe databases, and runs the service with its
 * background work: maintenance, delivery of notices, collecting.
 */
import type { CommandContext } from "../commands/command.ts";
import { formatJson } from "../commands/terminal/output.ts";
import { writeHint } from "../commands/terminal/process-io.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import type { Service } from "../service.ts";
import { redactUrl } from "../settings.ts";
import { hasWalResetBug } from "../store/database/file-writer.ts";
import { parseFileUrl } from "../store/database/open-database.ts";
import { answersWithoutToken } from "../store/database/remote/outage-detector.ts";
import { runServer } from "./http-server.ts";

export function serve(config: Config, context: CommandContext): Promise<void> {
  return runServer(config, {
    verb: "serve",
    async prepare({ service }, log) {
      await recoverAndLogRefunds(service, log);
      await service.debitCommits.listen();
    },
    async start({ url, publicUrl, ownership: { service }, log }) {
      await warnAboutAccess(config, log);
      await announce(context, { url, publicUrl }, config);
      await logSqliteVersion(config, service, log);
      const stops = [
        service.debitCommits.start(),
        service.startMaintenance(),
        service.startBackups(),
        service.startNotices(),
      ];
      const onFailure = (error: unknown) => log.backgroundFailure?.(error, "Collecting");
      if (config.collect === "on") stops.push(service.collecting.start(onFailure));
      return () => Promise.all(stops.map((stop) => stop()));
    },
  });
}

async function announce(
  context: CommandContext,
  { url, publicUrl }: Readonly<Record<"url" | "publicUrl", string>>,
  { databaseUrl, entitiesUrl }: Config,
): Promise<void> {
  const database = redactUrl(databaseUrl);
  const entities = entitiesUrl === undefined ? {} : { entities: redactUrl(entitiesUrl) };
  const isPublic = publicUrl !== url;
  const addresses = { url, ...(isPublic && { public_url: publicUrl }) };
  const described = { ...addresses, database, ...entities, pid: process.pid };
  if (context.isJson) await context.writeOut(formatJson(described));
  const names = Object.values({ database, ...entities }).join(" and ");
  const publicly = isPublic ? `, for clients at ${publicUrl}` : "";
  context.writeErr(`Serving ${names} at ${url}${publicly}\n`);
  writeHint(context, [
    `Dashboard: ${publicUrl}/`,
    `API reference: ${publicUrl}/swagger`,
    "Requests need a key. Make one in another terminal, with the same settings:",
    `  ${context.programName} accounts create acme --credits 1000`,
    `  ${context.programName} keys create acme`,
    "Ctrl-C stops the service",
  ]);
}

async function warnAboutAccess(config: Config, log: ServiceLogger): Promise<void> {
  for (const url of [config.databaseUrl, config.entitiesUrl, config.databaseReplica]) {
    if (url === undefined || parseFileUrl(url) !== undefined) continue;
    if (!(await answersWithoutToken(url))) continue;
    log.warning?.(
      "The database server {server} answers without a token: anyone who reaches it can read and " +
        "change everything; start it with --auth-jwt-key-file, and set DATABASE_AUTH_TOKEN",
      { server: redactUrl(url) },
    );
  }
}

async function logSqliteVersion(
  { databaseUrl }: Config,
  { database }: Service,
  log: ServiceLogger,
): Promise<void> {
  const file = parseFileUrl(databaseUrl);
  if (file === undefined) return;
  const [row] = await database.queryRows("SELECT sqlite_version() AS version");
  const version = String(row?.["version"]);
  if (!hasWalResetBug(version)) return log.info?.("SQLite {version}", { version });
  log.warning?.(
    "SQLite {version} can lose commits if another program checkpoints {file}: let no other program " +
      "open it while the service runs, such as Litestream or sqlite3",
    { version, file },
  );
}

/** Applies refunds of earlier processes. The service starts even when that fails. */
async function recoverAndLogRefunds(service: Service, log: ServiceLogger): Promise<void> {
  try {
    for (const { file, settled, left, problems } of await service.recoverRefunds()) {
      const values = { file, settled, left, problems: problems.join("; ") };
      if (settled > 0) log.info?.("Refunds of {settled} requests in {file} are settled", values);
      if (problems.length > 0) {
        log.warning?.("{file} keeps refunds of {left} requests: {problems}", values);
      }
    }
  } catch (error) {
    log.backgroundFailure?.(error, "Applying saved refunds");
  }
}
