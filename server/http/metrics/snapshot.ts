/** Values that a scrape reads from outside the process; if a read takes long, the last value stays. */

export function createSnapshot<Value>(
  readValue: () => Promise<Value>,
  now: () => number,
  /** How old the value is at most when it is not read again. */
  keptMs = 0,
) {
  let latest: { readonly value: Value; readonly at: number } | undefined;
  let running: Promise<void> | undefined;
  const read = async () => {
    const at = now();
    const value = await readValue();
    latest = { value, at };
    return value;
  };
  const ageMs = () => (latest === undefined ? undefined : Math.max(0, now() - latest.at));
  return {
    value: () => latest?.value,
    /** The time since the last successful read began; `undefined` before the first. */
    ageMs,
    /** Reads the value now. It rejects if the database is away; the last value then stays. */
    read,
    /** Reads the value, unless that is going on already. If it fails, the last value stays. */
    async update(): Promise<void> {
      if ((ageMs() ?? Infinity) < keptMs) return;
      const onSettled = () => void (running = undefined);
      await (running ??= read().then(onSettled, onSettled));
    },
  };
}
