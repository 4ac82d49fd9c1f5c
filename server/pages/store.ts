/** States that components follow: they render again when one changes. */
import { useEffect, useState } from "preact/hooks";

/** A store of a state that several components show. */
export interface Store<State> {
  get(): State;
  update(changes: Partial<State>): void;
  /** The state, for a component. */
  use(): State;
}

export function createStore<State extends object>(first: State): Store<State> {
  let state = first;
  const changes = new EventTarget();
  return {
    get: () => state,
    update(changed) {
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
    return () => target.removeEventListener(event, follow);
  }, []);
  return value;
}

/** The progress of a task that the visitor started. */
export interface TaskProgress {
  readonly isLoading: boolean;
  /** Why the last one failed. */
  readonly error?: unknown;
}

/** Follows the tasks that the visitor starts, one at a time. */
export function useProgress() {
  const [progress, setProgress] = useState<TaskProgress>({ isLoading: false });
  const follow = (task: Promise<unknown>) => {
    setProgress({ isLoading: true });
    task.then(
      () => setProgress({ isLoading: false }),
      (error: unknown) => setProgress({ isLoading: false, error }),
    );
  };
  return { progress, follow };
}
