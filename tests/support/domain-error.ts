/** Catches the DomainError of an action. */
import { DomainError, type ErrorCode } from "../../core/mod.ts";

/** The code and the message of a DomainError. */
export interface CaughtDomainError {
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * Runs an action that may throw a DomainError.
 *
 * @returns The error, or `undefined` if the action succeeds.
 * @throws Any other error of the action.
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
