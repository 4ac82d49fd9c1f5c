/** Hooks for state: a store, a value that follows events, a task, and a read that repeats. */
import { useEffect, useState } from "preact/hooks";

export function createStore<State extends object>(first: State) {
  let state = first;
  const changes = new EventTarget();
  return {
    get: () => state,
    update(changed: Partial<State>): void {
      state = { ...state, ...changed };
      changes.dispatchEvent(new Event("change"));
    },
    use: () => useEventValue(changes, "change", () => state),
  };
}

/** Reads a value when a component is rendered first, and again after each event. */
export function useEventValue<Value>(target: EventTarget, event: string, read: () => Value): Value {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const follow = () => setValue(read);
    target.addEventListener(event, follow);
    // An event may have come since the component was rendered.
    follow();
    return () => target.removeEventListener(event, follow);
  }, []);
  return value;
}

type TaskProgress = Readonly<{ isLoading: boolean; error?: unknown }>;

interface FollowedTask {
  readonly name: string;
  readonly task: Promise<unknown>;
  readonly progress: TaskProgress;
}

const NOT_STARTED: TaskProgress = { isLoading: false };

/**
 * Follows the newest task of a component.
 *
 * @param name What the tasks belong to. Under another name, the progress of a task is not shown.
 */
export function useProgress(name = "") {
  const [followed, setFollowed] = useState<FollowedTask>();
  const follow = (task: Promise<unknown>) => {
    setFollowed({ name, task, progress: { isLoading: true } });
    const end = (progress: TaskProgress) =>
      setFollowed((newest) => (newest?.task === task ? { ...newest, progress } : newest));
    task.then(
      () => end(NOT_STARTED),
      (error: unknown) => end({ isLoading: false, error }),
    );
  };
  return { progress: followed?.name === name ? followed.progress : NOT_STARTED, follow };
}

export interface Read<Value> {
  /** The newest value; it stays until the next value is read. */
  readonly value?: Value;
  readonly error?: unknown;
  /** The failure after which the read repeats by itself. */
  readonly outage?: unknown;
  reload(): void;
}

/** The delay before a read that ended with an outage is repeated. */
const RETRY_MS = 2000;

/** Reads a value, and another one when the name changes. Repeats a read after an outage. */
export function useReading<Value>(
  name: string,
  read: () => Promise<Value>,
  isOutage: (error: unknown) => boolean = () => false,
): Read<Value> {
  const [state, setState] = useState<Omit<Read<Value>, "reload"> & { name: string }>({ name });
  const [attempt, setAttempt] = useState(0);
  const repeat = () => setAttempt((count) => count + 1);
  const reload = () => {
    setState((before) => ({ ...before, error: undefined }));
    repeat();
  };
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fail = (error: unknown) => {
      if (!isCurrent) return;
      const isRetried = isOutage(error);
      if (isRetried) timer = setTimeout(repeat, RETRY_MS);
      setState(({ value, ...before }) => ({
        name,
        ...(before.name === name && value !== undefined && { value }),
        ...(isRetried ? { outage: error } : { error }),
      }));
    };
    read().then((value) => isCurrent && setState({ name, value }), fail);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name, attempt]);
  // The state may belong to an earlier name; an outage concerns all names.
  const { name: readName, outage, ...current } = state;
  return { ...(readName === name && current), outage, reload };
}
