/** A circuit breaker: nothing is sent to a server that does not answer, until a probe succeeds. */
import type { DomainError } from "../../core/errors.ts";

/** Time between two probes while the circuit is open. */
const PROBE_INTERVAL_MS = 250;

/** What a circuit breaker works with. */
export interface CircuitBreakerOptions {
  /** Asks the server for the least that it can answer; resolves to why it does not answer. */
  probe(): Promise<DomainError | undefined>;
  /** Told when the circuit opens, with the reason, and when it closes, without one. */
  onChange(failure: DomainError | undefined): void;
}

/** A circuit breaker. */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Makes a circuit breaker, closed. */
export function createCircuitBreaker({ probe, onChange }: CircuitBreakerOptions) {
  let failure: DomainError | undefined;
  let probing: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;

  async function attempt(): Promise<void> {
    const found = await probe();
    if (isEnded) return;
    const isChange = (found === undefined) !== (failure === undefined);
    failure = found;
    if (failure !== undefined) {
      timer = setTimeout(() => void examine(), PROBE_INTERVAL_MS);
      timer.unref();
    }
    if (isChange) onChange(failure);
  }

  function examine(): Promise<void> {
    clearTimeout(timer);
    return (probing ??= attempt().finally(() => (probing = undefined)));
  }

  return {
    /** Why the circuit is open; `undefined` while it is closed. */
    failure: (): DomainError | undefined => failure,

    /** Probes the server, once at a time, and opens or closes the circuit by what comes of it. */
    examine,

    /** Ends the probes. */
    close(): void {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
