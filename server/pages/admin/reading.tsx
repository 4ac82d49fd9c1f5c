/** Reads the administration API for components, shows values and failures, and reports outages. */
import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Button } from "../parts/form.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useReading, type Read } from "../state-hooks.ts";
import { adminSession, describeFailure, isOutage, sendAdmin } from "./api.ts";

const outages = new Map<symbol, string>();

function setOutage(component: symbol, message?: string): void {
  if (message === undefined) outages.delete(component);
  else outages.set(component, message);
  adminSession.update({ outage: [...outages.values()][0] ?? null });
}

/** Shows a message about an outage in the frame of the page; `undefined` shows none. */
export function useOutage(message: string | undefined): void {
  useEffect(() => {
    if (message === undefined) return undefined;
    const component = Symbol();
    setOutage(component, message);
    return () => setOutage(component);
  }, [message]);
}

/** Reads a path below `/admin`, or calls `read`; repeats it while the service does not answer. */
export function useAdminRead<Value>(path: string, read = () => sendAdmin<Value>("GET", path)) {
  const reading = useReading(path, read, isOutage);
  const { outage } = reading;
  useOutage(outage === undefined ? undefined : describeFailure(outage));
  return reading;
}

/** Shows a value once it is read, or why it cannot be read; the page's frame explains an outage. */
export function Reading<Value>({
  read: { value, error, reload },
  children,
}: Readonly<{ read: Read<Value>; children: (value: Value) => ComponentChildren }>) {
  const { outage } = adminSession.use();
  return (
    <>
      {error !== undefined && (
        <div class="notice" role="alert">
          <p>
            <strong>This could not be read.</strong> {describeFailure(error)}
          </p>
          <Button label="Try again" onClick={reload} />
        </div>
      )}
      {value !== undefined && children(value)}
      {value === undefined &&
        error === undefined &&
        (outage === null ? <Loading /> : <Empty>This is read once the service answers.</Empty>)}
    </>
  );
}
