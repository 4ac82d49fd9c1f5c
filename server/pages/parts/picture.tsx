/** The picture of an entity beside its name; its initials on a coloured ground until it is there. */
import { useEffect, useRef, useState } from "preact/hooks";
import { computeHue, createInitials } from "../initials.ts";
import { loadPicture, mayHavePicture, type Pictured } from "../pictures.ts";

interface PictureProperties {
  readonly of: Pictured;
  readonly name: string;
}

/**
 * It has a fixed size, so that nothing moves when the picture comes. The name stands beside it, so
 * it is decorative: screen readers and copied texts leave it out.
 */
export function Picture({ of, name }: PictureProperties) {
  const { kind, id, link } = of;
  const element = useRef<HTMLSpanElement>(null);
  const [loaded, setLoaded] = useState<{ key: string; url: string | null }>();
  const key = `${kind} ${id}`;
  useEffect(() => {
    const { current } = element;
    if (current === null || !mayHavePicture(of)) return undefined;
    let isCurrent = true;
    const stop = onceNear(current, async () => {
      const url = await loadPicture(of);
      if (isCurrent) setLoaded({ key, url });
    });
    return () => {
      isCurrent = false;
      stop();
    };
  }, [key, link]);
  const url = loaded?.key === key ? loaded.url : null;
  return (
    <span
      ref={element}
      class={`picture ${kind}`}
      aria-hidden="true"
      data-initials={createInitials(name)}
      style={{ "--hue": String(computeHue(name)) }}
    >
      {url !== null && (
        <img src={url} alt="" decoding="async" onError={() => setLoaded({ key, url: null })} />
      )}
    </span>
  );
}

/** The rows below the window that are loaded already. */
const NEAR = "200px";

const actions = new WeakMap<Element, () => unknown>();
let observer: IntersectionObserver | undefined;

/** Runs an action once an element is near the window. @returns Ends the wait. */
function onceNear(element: Element, act: () => unknown): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer?.unobserve(target);
        void actions.get(target)?.();
      }
    },
    { rootMargin: NEAR },
  );
  actions.set(element, act);
  observer.observe(element);
  return () => observer?.unobserve(element);
}
