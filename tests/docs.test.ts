/** Compares the documents with the code: settings, commands, errors, fields, examples. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENTITY_KINDS, ENTITY_FIELDS, type EntityFields } from "../core/kinds.ts";
import { SETTINGS } from "../server/config.ts";
import { generateDailyProfiles, generateObservations } from "../server/demo/generate.ts";
import { ERROR_STATUSES } from "../core/errors.ts";
import { formatErrorResponse } from "../server/http/errors.ts";
import { createProgram } from "../server/main.ts";
import { DAY_MS } from "../core/time.ts";
import { parseInlineCode, readDoc, findSection, parseTable, listVerbs } from "./support/docs.ts";
import { REJECTED_LINES } from "./support/rejected-lines.ts";
import { runInProcess } from "./support/command-line-io.ts";
import { openSandbox } from "./support/processes/command-line.ts";
import { startTestService } from "./support/service.ts";

const readme = await readDoc("README.md");
const operatingDoc = await readDoc("server/OPERATING.md");
const commandsDoc = await readDoc("server/COMMANDS.md");
const apiDoc = await readDoc("server/API.md");
const observationsDoc = await readDoc("server/OBSERVATIONS.md");
const administrationDoc = await readDoc("server/ADMINISTRATION.md");

/** The documents with commands that can be run one after another. */
const COMMAND_DOCS = [
  "server/COMMANDS.md",
  "server/OPERATING.md",
  "server/COLLECTING.md",
  "server/ADMINISTRATION.md",
] as const;

/** The time of the responses in README.md. */
const README_CLOCK = Date.parse("2026-11-21T03:07:00Z");

const service = await startTestService({ ADMIN_TOKEN: "0123456789abcdef" });
service.clock.now = README_CLOCK;
afterAll(service.close);

const COMMANDS = listVerbs(createProgram());

describe("the documents of the service", () => {
  test("OPERATING.md lists every setting with its default, what it allows and what it is for", () => {
    const rows = parseTable(findSection(operatingDoc, "## Settings"));
    expect(rows).toEqual(
      SETTINGS.map(({ name, default: initial, allowed, description }) => [
        `\`${name}\``,
        initial ? `\`${initial}\`` : "none",
        allowed,
        description,
      ]),
    );
  });

  test("COMMANDS.md lists every command with its arguments and options", () => {
    const rows = parseTable(commandsDoc);
    const listed = rows.map(([verb = "", options = ""]) => [
      parseInlineCode(verb),
      parseInlineCode(options),
    ]);
    const actual = COMMANDS.map(([name, verb]) => {
      const names = verb.registeredArguments.map(
        (argument) => argument.name().toUpperCase() + (argument.variadic ? "..." : ""),
      );
      return [[[name, ...names].join(" ")], verb.options.map(({ flags }) => flags)];
    });
    expect(listed).toEqual(actual);
  });

  test("API.md lists every error with its status", () => {
    const rows = parseTable(findSection(apiDoc, "## Errors"));
    expect(rows.map(([status, name]) => [status, name])).toEqual(
      Object.entries(ERROR_STATUSES).map(([name, status]) => [String(status), `\`${name}\``]),
    );
  });

  test.each([
    ["/api/video/nobody/details", "Channel nobody not found"],
    ["/api/video/a/shorts?limit=0", 'limit must be a whole number from 1 to 100, got "0"'],
    ["/api/microblog/nobody/details", "User nobody not found"],
    ["/api/microblog/a/tweets?days=15", 'days must be a whole number from 1 to 14, got "15"'],
  ])("shows the response to GET %s", async (path, sentence) => {
    const body = await (await service.get(path)).text();
    expect(body).toContain(JSON.stringify(sentence).slice(1, -1));
    expect(findSection(apiDoc, "## Errors")).toContain(`\n    ${body}\n`);
  });

  test("shows the errors of the video API that a path alone cannot cause", () => {
    const section = findSection(apiDoc, "## Errors");
    const errors = [
      { code: "Missing API Key", message: "…" },
      { code: "Short Not Found", message: "Short nothing not found for channel sevenminutesoup" },
    ] as const;
    for (const error of errors) {
      expect(section).toContain(
        `\n    ${formatErrorResponse(error, "/api/video/channels").body}\n`,
      );
    }
  });

  test("OBSERVATIONS.md lists every kind with its fields", () => {
    const rows = parseTable(observationsDoc);
    const listed = rows.map((cells) => cells.map(parseInlineCode));
    expect(listed).toEqual(
      ENTITY_KINDS.map((kind) => {
        const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
        return [
          [kind],
          [idField],
          Object.keys(attributes).filter((name) => name !== idField),
          [...counts],
        ];
      }),
    );
  });

  test("API.md lists every operation and header of the OpenAPI document", async () => {
    const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as {
      paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
      components: { headers: object };
    };
    const isAdmin = (path: string) => path.startsWith("/admin/");
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      isAdmin(path) ? [] : Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const listed = parseTable(apiDoc).flatMap(([operation = ""]) => parseInlineCode(operation));
    expect(listed.toSorted()).toEqual(operations.toSorted());
    for (const [path, methods] of Object.entries(document.paths)) {
      const described = isAdmin(path) ? administrationDoc + apiDoc : apiDoc;
      for (const { name } of Object.values(methods).flatMap(({ parameters = [] }) => parameters))
        expect(described).toMatch(new RegExp("[`{]" + name + "[`}]"));
    }
    const headers = parseTable(findSection(apiDoc, "## Credits and headers"));
    expect(headers.flatMap(([name = ""]) => parseInlineCode(name)).toSorted()).toEqual(
      Object.keys(document.components.headers).toSorted(),
    );
  });

  test("ADMINISTRATION.md lists every path", () => {
    const rows = parseTable(findSection(administrationDoc, "## The administration API"));
    const routes = service.service.app.routes
      .filter(({ path }) => path.startsWith("/admin/"))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    expect(routes).not.toBeEmpty();
    expect(rows.flatMap(([path = ""]) => parseInlineCode(path)).toSorted()).toEqual(
      routes.toSorted(),
    );
  });

  test("show commands that succeed, in their order", async () => {
    const sandbox = await openSandbox();
    const [, policy = ""] = /^ {4}RETENTION=(\S+)$/m.exec(operatingDoc) ?? [];
    const environment = { DATABASE_URL: `file:${sandbox.file}`, RETENTION: policy };
    const texts = await Promise.all(COMMAND_DOCS.map(readDoc));
    const lines = texts.join("\n").matchAll(/^ {4}bun server\/main\.ts ([a-z].*)$/gm);
    const commands = new Set(Array.from(lines, ([, line = ""]) => line));
    expect(commands.size).toBeGreaterThan(5);
    for (const command of commands) {
      const words = Array.from(command.matchAll(/"([^"]*)"|\S+/g), ([word, text]) => text ?? word);
      const argv = words.map((word) => word.replace(/^\.\.\/backups/, sandbox.folder));
      const { status, err } = await runInProcess(argv, environment);
      expect({ command, status, err }).toMatchObject({ command, status: 0 });
    }
    await sandbox.close();
  }, 60_000);

  test("shows a body that adds and removes a creator", async () => {
    const section = findSection(apiDoc, "## The monitoring list");
    const [, body = ""] = /^ {4}(\{"creator".*\})$/m.exec(section) ?? [];
    const headers = { "content-type": "application/json" };
    for (const [method, status] of [
      ["PATCH", 201],
      ["DELETE", 200],
    ] as const) {
      const response = await service.get("/api/creators", service.key, { method, headers, body });
      expect(response.status).toBe(status);
    }
  });

  test("OBSERVATIONS.md lists every reason for a rejection as an import prints it", async () => {
    const encoder = new TextEncoder();
    const lines = REJECTED_LINES.map((line) =>
      typeof line === "string"
        ? encoder.encode(line)
        : encoder.encode(JSON.stringify({ observedAt: "2026-11-20", ...line })),
    );
    const bytes = [encoder.encode("\n"), Uint8Array.of(0xff, 0x0a)];
    for (const line of lines) bytes.push(line, encoder.encode("\n"));
    const { rejected } = await service.importLines(Uint8Array.from(Buffer.concat(bytes)));
    const rows = parseTable(findSection(observationsDoc, "## Why a line is rejected"));
    expect(rows.map(([, reason]) => reason)).toEqual(rejected.map(({ reason }) => `\`${reason}\``));
  });
});

describe(".env.example", () => {
  test("lists every setting with its default, what it allows and what it is for", async () => {
    const text = await readDoc(".env.example");
    const listed = Array.from(text.matchAll(/^# ([A-Z_]+)=(.*)$/gm), ([, ...pair]) => pair);
    expect(listed).toEqual(SETTINGS.map(({ name, default: initial = "" }) => [name, initial]));
    for (const { name, allowed, description } of SETTINGS) {
      const before = text.slice(0, text.indexOf(`# ${name}=`));
      const comment = before.slice(before.lastIndexOf("\n\n")).replaceAll(/\n# ?/g, " ");
      expect(comment.trim()).toBe(`${description}. Allowed: ${allowed}`);
    }
  });
});

describe("README.md", () => {
  const requests = Array.from(
    findSection(readme, "## First requests").matchAll(
      /^ {4}curl [^\n]*"http:\/\/127\.0\.0\.1:3000(\/[^"\n]*)"\n+```json\n(.*?)```/gms,
    ),
    ([, path = "", answer = ""]) => [path, answer] as const,
  );

  beforeAll(async () => {
    const channel = String(JSON.parse(requests[0]?.[1] ?? "{}").id);
    const lines: string[] = [];
    const from = README_CLOCK - 45 * DAY_MS;
    const recent = generateObservations({ from, to: README_CLOCK });
    for (const line of [...generateDailyProfiles({ from: 0, to: from }), ...recent]) {
      const isShown =
        line.kind === "user"
          ? line.username === "slowcompiler"
          : line.kind !== "tweet" && (line.kind === "short" ? line.channel : line.id) === channel;
      if (isShown) lines.push(JSON.stringify(line));
    }
    await service.importLines(lines.join("\n"));
  });

  test("shows five requests", () => {
    expect(requests.length).toBe(5);
  });

  test.each(requests)("shows the whole response to GET %s", async (path, answer) => {
    expect(await (await service.get(path)).json()).toEqual(JSON.parse(answer));
  });

  test("shows lines that can be imported, and the counts of the import", async () => {
    const section = findSection(readme, "## Use your own data");
    const [, lines = ""] = /```json lines\n(.*?)```/s.exec(section) ?? [];
    const [, names = "", counts = ""] = /^file +(.*)\nmine\.ndjson +(.*)$/m.exec(section) ?? [];
    const shown = counts.split(/ +/).map(Number);
    const { rejected, causes: _, ...taken } = await service.importLines(lines);
    expect<object>({ ...taken, rejected: rejected.length }).toEqual(
      Object.fromEntries(names.split(/ +/).map((name, index) => [name, shown[index]])),
    );
    expect(ENTITY_KINDS.every((kind) => lines.includes(`"kind":"${kind}"`))).toBe(true);
    expect((await service.importLines(lines)).unchanged).toBe(taken.read);
  });
});
