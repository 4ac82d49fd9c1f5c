/** Reads the error that an action was refused with. */
import { DomainError, type ErrorCode } from "../../core/mod.ts";

/** Which error an action was refused with, and what it said. */
export interface CaughtDomainError {
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * Runs an action that may be refused.
 *
 * @returns The refusal, or `undefined` where the action went through; any error but a DomainError
 * is thrown on.
 */
export function catchDomainError(action: () => unknown): CaughtDomainError | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return { code: error.code, message: error.message };
    throw error;
  }
  return undefined;
}
