/** The heading of a page. */
import { useEffect } from "preact/hooks";
import { Text } from "./figures.tsx";

/** A heading, which is also the title of the document. */
export function Heading({ text }: { readonly text: string }) {
  useEffect(() => void (document.title = `${text} · Creator metrics`), [text]);
  return (
    <h1>
      <Text value={text} />
    </h1>
  );
}
