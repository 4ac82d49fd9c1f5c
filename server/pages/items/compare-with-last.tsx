/** The addresses of comparisons of items, and the button that compares one with its creator's last. */
import { ITEM_PAGES } from "./item-pages.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";
import { readOnce } from "../hooks.ts";
import { continueHere, openPage } from "../router.ts";
import { createPrice, getClient } from "../session.ts";
import { useProgress } from "../state-hooks.ts";
import { Button } from "../parts/form.tsx";
import { Failed } from "../parts/states.tsx";

export const createItemComparisonPath = ({ itemPath }: OwnerPages, ids: readonly string[]) =>
  `/compare?${new URLSearchParams({ kind: itemPath, ids: ids.join() })}`;

/** How many of the creator's newest items one is compared with. */
const LAST_ITEMS = 5;

/** A button that compares an item with the newest others of its creator. */
export function CompareWithLast({
  owner,
  name,
  id,
}: Readonly<{ owner: OwnerPages; name: string; id: string }>) {
  const { itemKind } = owner;
  const { progress, follow } = useProgress();
  const readNewest = () =>
    readOnce(getClient(), ["newest items", itemKind, name], async (client) => {
      const { open, published } = ITEM_PAGES[itemKind];
      return (await open(client, name, { sort: published, limit: LAST_ITEMS + 1 })())?.items ?? [];
    });
  const compare = () =>
    continueHere(readNewest(), (newest) => {
      const others = newest.filter((item) => item.id !== id && !item.id.includes(","));
      if (others.length === 0) throw new Error(`No other ${itemKind} of the creator was observed`);
      const ids = [id, ...others.slice(0, LAST_ITEMS).map((item) => item.id)];
      openPage(createItemComparisonPath(owner, ids));
    });
  // One credit finds the others, and each that is compared costs one.
  const price = LAST_ITEMS + 2;
  return (
    <>
      <Button
        label={
          progress.isLoading
            ? "Loading…"
            : `Compare with the creator’s last five${createPrice(price, "up to ")}`
        }
        isDisabled={progress.isLoading || id.includes(",")}
        onClick={() => follow(compare())}
      />
      <Failed error={progress.error} />
    </>
  );
}
