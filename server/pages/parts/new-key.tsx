/** Shows a new API key, once, with a button that copies it. */
import { useState } from "preact/hooks";
import { Button } from "./form.tsx";

export function NewKey({
  created: { id, key },
  onClose,
}: Readonly<{ created: Readonly<{ id: number; key: string }>; onClose: () => void }>) {
  const [copied, setCopied] = useState("");
  // Browsers allow copying only on pages over HTTPS or from localhost.
  const copy = () =>
    navigator.clipboard.writeText(key).then(
      () => setCopied("Copied"),
      () => setCopied("Select it, and copy it yourself"),
    );
  return (
    <div class="new-key" role="alert">
      <p>
        <strong>Copy key number {id} now: it is not shown again.</strong>
      </p>
      <p>
        <code class="secret">{key}</code>
      </p>
      <div class="row">
        <Button label="Copy key" look="primary" onClick={() => void copy()} />
        <span role="status">{copied}</span>
        <Button label="Hide it" onClick={onClose} />
      </div>
    </div>
  );
}

/** When an old key ends, by the overlap of a rotation. */
const OVERLAPS = [
  ["0", "at once"],
  ["1h", "in an hour"],
  ["24h", "in a day"],
  ["7d", "in a week"],
  ["30d", "in 30 days"],
] as const;

export const OverlapChoice = () => (
  <select name="overlap">
    {OVERLAPS.map(([overlap, label]) => (
      <option key={overlap} value={overlap} selected={overlap === "24h"}>
        {label}
      </option>
    ))}
  </select>
);
