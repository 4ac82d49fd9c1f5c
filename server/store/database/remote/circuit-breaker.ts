/** A circuit breaker: no call is sent to a server that does not answer, until a probe succeeds. */
import type { DomainError } from "../../../../core/errors.ts";

/** Time between two probes while the circuit is open. */
const PROBE_INTERVAL_MS = 250;

/**
 * Creates a circuit breaker whose circuit is closed.
 *
 * @param probe Sends the server a minimal request; resolves to the reason why it does not answer.
 * @param onStateChange Called with the reason when the circuit opens, and without one when it closes.
 */
export function createCircuitBreaker(
  probe: () => Promise<DomainError | undefined>,
  onStateChange: (failure: DomainError | undefined) => void,
) {
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
      timer = setTimeout(() => void probeNow(), PROBE_INTERVAL_MS).unref();
    }
    if (isChange) onStateChange(failure);
  }

  function probeNow(): Promise<void> {
    clearTimeout(timer);
    return (currentProbe ??= runProbe().finally(() => (currentProbe = undefined)));
  }

  return {
    /** Why the circuit is open; `undefined` while it is closed. */
    getFailure: (): DomainError | undefined => failure,

    /** Probes the server, unless a probe is running, and opens or closes the circuit accordingly. */
    probeNow,

    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
