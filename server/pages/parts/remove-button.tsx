/** A button that removes one of the compared names, and compares the others again. */
import { setParameters } from "../router.ts";
import { createPriceNote } from "../session.ts";
import { Button } from "./form.tsx";

interface RemoveButtonProperties {
  /** The parameter of the address that has the names. */
  readonly parameter: "names" | "ids";
  readonly names: readonly string[];
  readonly name: string;
  readonly label: string;
}

export const RemoveButton = ({ parameter, names, name, label }: RemoveButtonProperties) => (
  <Button
    label="✕"
    about={`Remove ${label}`}
    look="plain"
    hint={`Removes it, and compares the others again${createPriceNote(", for a credit each")}`}
    onClick={() => {
      setParameters({ [parameter]: names.filter((other) => other !== name).join() });
      // The pressed button, which had the focus, goes.
      document.querySelector("main")?.focus({ preventScroll: true });
    }}
  />
);
