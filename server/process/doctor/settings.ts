/** Checks the settings, and shows where each comes from. */
import { existsSync, readFileSync } from "node:fs";
import { problem, type CheckResult } from "../../commands/doctor/diagnosis.ts";
import { SETTINGS } from "../../config.ts";
import { redactUrl, type Setting } from "../../settings.ts";
import type { DoctorContext } from "./context.ts";

/** The files that Bun reads into the environment; a later one wins, and the environment of all. */
const ENV_FILES = [".env", ".env.production", ".env.development", ".env.local"];

export async function checkSettings({
  environment,
  settingProblems,
}: DoctorContext): Promise<CheckResult> {
  const envFiles = ENV_FILES.filter((file) => existsSync(file)).map((file) => ({
    file,
    text: readFileSync(file, "utf8"),
  }));
  const set = SETTINGS.flatMap((setting) => {
    const { name, secret } = setting;
    const value = environment[name];
    const file = secret === undefined ? undefined : environment[`${name}_FILE`];
    if (file) return [{ name, value: "set", source: file }];
    if (!value) return [];
    const source = envFiles.find(({ text }) => definesSetting(text, name, value))?.file;
    return [{ name, value: formatValue(setting, value), source: source ?? "environment" }];
  });
  const facts = set.map(({ name, value, source }) => [name, `${value} (${source})`]);
  const defaults = SETTINGS.filter(({ name }) => set.every((other) => other.name !== name));
  return {
    facts: {
      ...Object.fromEntries(facts),
      default: defaults.map(({ name }) => name).join(", "),
    },
    findings: settingProblems.map((sentence) =>
      problem(sentence, "set it to what is allowed, or remove it; serve does not start with it"),
    ),
  };
}

/** Whether a file sets a setting to a value, in quotes or without. */
function definesSetting(text: string, name: string, value: string): boolean {
  const lines = text.matchAll(/^\s*(?:export\s+)?([A-Z_]+)\s*=\s*(.*?)\s*$/gm);
  return Array.from(lines).some(
    ([, key, given = ""]) => key === name && given.replace(/^(["'])(.*)\1$/, "$2") === value,
  );
}

function formatValue({ name, secret }: Setting, value: string): string {
  // The path of a receiver can be as secret as a token.
  if (name === "WEBHOOK_URL" && /^https?:/.test(value) && URL.canParse(value)) {
    return `${new URL(value).origin}/…`;
  }
  return secret === "whole" ? "set" : redactUrl(value);
}
