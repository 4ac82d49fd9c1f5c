/** Reads of the administration API by components. */
import { useState } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import { useAwaited, type Read } from "../hooks.ts";
import { sendAdmin } from "./api.ts";

/** Something that was read, and what reads it again after a change. */
export type AdminRead<Value> = Read<Value> & { reload(): void };

/** Reads a path below `/admin`. */
export function useAdminRead<Value>(path: string): AdminRead<Value> {
  const [count, setCount] = useState(0);
  const read = useAwaited(`${path} ${count}`, () => sendAdmin<Value>("GET", path));
  return { ...read, reload: () => setCount((before) => before + 1) };
}

/** A message about the last change. */
export interface ChangeMessage {
  readonly text: string;
  readonly isFailure: boolean;
}

/**
 * Makes changes one after another, and says how the last one went.
 *
 * @param onChange Is called after each change that succeeded.
 */
export function useChanges(onChange: () => void) {
  const [message, setMessage] = useState<ChangeMessage>();
  const [isBusy, setBusy] = useState(false);
  async function change<Result>(
    request: () => Promise<Result>,
    describe: (result: Result) => string,
  ): Promise<Result | undefined> {
    setBusy(true);
    try {
      const result = await request();
      setMessage({ text: describe(result), isFailure: false });
      onChange();
      return result;
    } catch (error) {
      const text = error instanceof MetricsError ? error.message : "The service does not answer";
      setMessage({ text, isFailure: true });
      return undefined;
    } finally {
      setBusy(false);
    }
  }
  return { message, isBusy, change };
}
