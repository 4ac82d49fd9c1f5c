/** The list of the kinds of owner that have pages. */
import { CHANNEL_PAGES } from "./channels.ts";
import { USER_PAGES } from "./users.ts";

export const OWNERS = [CHANNEL_PAGES, USER_PAGES] as const;
