/** Values of the tab that components follow: they render again when one changes. */
import { useEffect, useState } from "preact/hooks";

/** A store of what several components show. */
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
