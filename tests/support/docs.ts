/** Parses the documents: headings, tables, code and links. */
import type { Command } from "commander";
import { dirname, join, relative } from "node:path";

/** The folder of the project. */
export const ROOT = join(import.meta.dir, "../..");

/** The path of each document from the root. */
export const DOC_FILES = [
  "README.md",
  "CONTRIBUTING.md",
  "RELEASING.md",
  "SECURITY.md",
  "server/README.md",
  "server/ADMINISTRATION.md",
  "server/API.md",
  "server/COLLECTING.md",
  "server/COMMANDS.md",
  "server/INSTALLING.md",
  "server/LIBSQL.md",
  "server/OBSERVATIONS.md",
  "server/OPERATING.md",
  "server/SCALING.md",
  "server/SELLING.md",
  "server/pages/README.md",
  "core/README.md",
  "tests/bench/README.md",
  "tests/examples/README.md",
  "tests/support/README.md",
  "CHANGELOG.md",
  ".env.example",
] as const;

/** The text of a document. */
export function readDoc(path: (typeof DOC_FILES)[number]): Promise<string> {
  return Bun.file(join(ROOT, path)).text();
}

/** The text below a heading, up to the next heading of the same or a higher level. */
export function findSection(document: string, heading: string): string {
  const start = document.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`The document has no heading ${heading}`);
  const level = heading.indexOf(" ");
  const body = document.slice(start + heading.length + 2);
  const next = new RegExp(`^#{1,${level}} `, "m").exec(body.replaceAll(/```.*?```/gs, toSpaces));
  return next === null ? body : body.slice(0, next.index);
}

const toSpaces = (text: string) => " ".repeat(text.length);

/** The rows of the first table of a section, without its header. */
export function parseTable(section: string): string[][] {
  const lines = section.split("\n");
  const start = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  if (start === -1) throw new Error("The section has no table");
  return lines.slice(start + 2, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

/** The parts of a text in backticks. */
export function parseInlineCode(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);
}

/** The relative links of a document: the file's path from the root, and the anchor in it or "". */
export function parseLinks(path: string, document: string): { file: string; anchor: string }[] {
  const links = Array.from(document.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
  return links
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [file = "", anchor = ""] = target.split("#");
      const from = relative(ROOT, join(ROOT, dirname(path), file));
      return { file: file === "" ? path : from, anchor };
    });
}

/** The anchors of the headings of a document. */
export function parseAnchors(document: string): string[] {
  return Array.from(document.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The commands without subcommands, each with its full name, such as `accounts create`. */
export function listVerbs(command: Command, path: readonly string[] = []): [string, Command][] {
  return command.commands.flatMap((verb): [string, Command][] => {
    const name = [...path, verb.name()];
    return verb.commands.length > 0 ? listVerbs(verb, name) : [[name.join(" "), verb]];
  });
}

/** The whole numbers of a text. What is in parentheses repeats a number as a power of two. */
export function parseNumbers(text = ""): number[] {
  const plain = text.replaceAll(/\(.*?\)/g, "").replaceAll(",", "");
  return Array.from(plain.matchAll(/\d+/g), Number);
}
