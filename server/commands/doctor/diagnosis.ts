/** What a diagnosis consists of: the facts of each check, and its findings. */
import { describeError, readAdvice } from "../../system-errors.ts";

export interface Finding {
  /** A `hint` leaves the exit status 0. */
  readonly severity: "problem" | "hint";
  /** What is wrong, in a sentence without a period. */
  readonly message: string;
  /** What to do. */
  readonly action: string;
}

/** The result of a check. */
export interface CheckResult {
  /** What is shown, whether or not anything is wrong. */
  readonly facts: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
}

export interface CheckReport extends CheckResult {
  readonly check: string;
}

/** The problem that something could not be read. */
export const describeFailure = (error: unknown): Finding =>
  problem(describeError(error), readAdvice(error) ?? "remove the cause, then run this again");

export const problem = (message: string, action: string): Finding => ({
  severity: "problem",
  message,
  action,
});

export const hint = (message: string, action: string): Finding => ({
  severity: "hint",
  message,
  action,
});
