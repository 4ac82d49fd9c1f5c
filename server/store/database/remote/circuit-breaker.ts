/** A circuit breaker: nothing is sent to a server that does not answer, until a probe succeeds. */
import type { DomainError } from "../../../../core/errors.ts";

/** Time between two probes while the circuit is open. */
const PROBE_INTERVAL_MS = 250;

/** What a circuit breaker works with. */
export interface CircuitBreakerOptions {
  /** Asks the server for the least that it can answer; resolves to why it does not answer. */
  probe(): Promise<DomainError | undefined>;
  /** Told when the circuit opens, with the reason, and when it closes, without one. */
  onStateChange(failure: DomainError | undefined): void;
}

/** A circuit breaker. */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Makes a circuit breaker, closed. */
export function createCircuitBreaker({ probe, onStateChange: onChange }: CircuitBreakerOptions) {
  let failure: DomainError | undefined;
  let currentProbe: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function runProbe(): Promise<void> {
    const result = await probe();
    if (isStopped) return;
    const isChange = (result === undefined) !== (failure === undefined);
    failure = result;
    if (failure !== undefined) {
      timer = setTimeout(() => void probeNow(), PROBE_INTERVAL_MS);
      timer.unref();
    }
    if (isChange) onChange(failure);
  }

  function probeNow(): Promise<void> {
    clearTimeout(timer);
    return (currentProbe ??= runProbe().finally(() => (currentProbe = undefined)));
  }

  return {
    /** Why the circuit is open; `undefined` while it is closed. */
    failure: (): DomainError | undefined => failure,

    /** Probes the server, once at a time, and opens or closes the circuit by what comes of it. */
    examine: probeNow,

    /** Ends the probes. */
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
