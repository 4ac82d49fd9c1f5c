/** A value that the metrics show, read from the database in the background. */

const REFRESH_INTERVAL_MS = 5000;

/**
 * Reads a value at once, then at an interval.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createSnapshot<Value>(read: () => Promise<Value>, now: () => number) {
  let latest: { readonly value: Value; readonly at: number } | undefined;
  let isRefreshing = false;
  const refresh = async () => {
    const at = now();
    const value = await read();
    latest = { value, at };
    return value;
  };
  const refreshInBackground = async () => {
    if (isRefreshing) return;
    isRefreshing = true;
    // If the database is away, the last value stays, and `ageMs()` shows how old it is.
    await refresh().catch(() => undefined);
    isRefreshing = false;
  };
  void refreshInBackground();
  const timer = setInterval(() => void refreshInBackground(), REFRESH_INTERVAL_MS);
  timer.unref();
  return {
    /** The last value; `undefined` until a read succeeds. */
    value: () => latest?.value,
    /** The time since the last successful read began; `undefined` before the first. */
    ageMs: () => (latest === undefined ? undefined : Math.max(0, now() - latest.at)),
    /** Reads the value now. It rejects if the database is away; the last value then stays. */
    refresh,
    close: () => clearInterval(timer),
  };
}
