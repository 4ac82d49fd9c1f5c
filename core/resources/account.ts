/** The resource of `/api/account`. */

/** How charged requests ended. */
export interface UsageStatuses {
  /** Answered with data. */
  "200": number;
  /** Answered that nothing has changed. */
  "304": number;
  /** Answered that there is no such entity. */
  "404": number;
  /** Refunded. */
  failed: number;
  /** Of the last seconds, or of the seconds before a process was killed. */
  unknown: number;
}

/** The usage of a day; or, with `by`, of a key, an endpoint, a day or an hour. */
export interface UsageRow {
  /** With `by=key`: the key of the requests. */
  key?: {
    id: number;
    /** The first characters of the key. */
    begins_with: string;
    label: string | null;
  };
  /** As in the API reference: `/api/video/{channel}/details`. */
  endpoint?: string;
  /** A UTC day, `2026-11-20`. */
  day?: string;
  /** The start of an hour, `2026-11-20T08:00:00.000Z`. */
  hour?: string;
  /** Charged requests. */
  requests: number;
  /** Credits that they were charged. */
  credits: number;
  /** Credits that were refunded. */
  refunded: number;
  /** How the requests ended, with `by`. */
  statuses?: UsageStatuses;
}

/** The response of `GET /api/account`. */
export interface AccountDetails {
  /** Name of the account. */
  account: string;
  /** Credits that are left. */
  balance: number;
  /** Every day of the range, oldest first; with `by`, the groups with use. */
  usage: UsageRow[];
}
