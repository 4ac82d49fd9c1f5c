/** The heading of a page, which is also the title of the document. */
import { useEffect } from "preact/hooks";
import { Text } from "./figures.tsx";

export function Heading({ text }: { readonly text: string }) {
  useEffect(() => void (document.title = `${text} · Creator metrics`), [text]);
  return (
    <h1>
      <Text value={text} />
    </h1>
  );
}
