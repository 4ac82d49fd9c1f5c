/** Says that no channel or user was observed yet, and how to change that. */
import { Empty } from "../parts/states.tsx";
import type { OwnerPages } from "./owner-pages.ts";

export const NeverObserved = ({ owner }: { readonly owner: OwnerPages }) => (
  <Empty
    title={`No ${owner.kind} was observed yet`}
    action={
      <a class="button" href={owner.emptyLink.href}>
        {owner.emptyLink.label}
      </a>
    }
  >
    {owner.emptyHint}
  </Empty>
);
