/** A link to the page where the operator sells credits, if there is one. */
import { createStore } from "../state-hooks.ts";

/** Where credits are sold, once the account is read. */
export const shop = createStore<{ readonly url: string | null }>({ url: null });

/** @param after A text between the link and what follows it. */
export function BuyCredits({ after }: { readonly after?: string }) {
  const { url } = shop.use();
  return url === null ? null : (
    <>
      <a href={url} target="_blank" rel="noopener">
        Buy credits
      </a>
      {after}
    </>
  );
}
