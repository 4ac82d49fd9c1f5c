/** How something that the visitor asked for goes. */
import { useState } from "preact/hooks";

export interface Progress {
  readonly isLoading: boolean;
  /** Why the last one failed. */
  readonly error?: unknown;
}

/** Follows what the visitor asks for, one at a time. */
export function useProgress() {
  const [progress, setProgress] = useState<Progress>({ isLoading: false });
  const follow = (task: Promise<unknown>) => {
    setProgress({ isLoading: true });
    task.then(
      () => setProgress({ isLoading: false }),
      (error: unknown) => setProgress({ isLoading: false, error }),
    );
  };
  return { progress, follow };
}
