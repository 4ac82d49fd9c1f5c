/** Answers whose histories may be too long to list whole. */

/** An answer that may carry a thinned history. */
export interface Thinnable<Body> {
  readonly body: Body;
  readonly isThinned: boolean;
}

/** Tells in a header that observations were left out, and gives the body. */
export function markThinned<Body>(
  headers: Record<string, string | number | undefined>,
  { body, isThinned }: Thinnable<Body>,
): Body {
  if (isThinned) headers["x-history-thinned"] = "1";
  return body;
}
