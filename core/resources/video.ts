/** The resources of `/api/video`. */

/** How far a listing goes that continues at a cursor. */
export interface CursorPagination {
  hasMore: boolean;
  /** The `cursor` of the next page; `null` if `hasMore` is false. */
  nextCursor: string | null;
}

/** A channel in the list of channels. Counts are `null` if no source reported them. */
export interface ChannelSummary {
  id: string;
  username: string | null;
  displayName: string | null;
  subscribers: number | null;
  videoCount: number | null;
  /** A URL, as the source reported it. */
  thumbnail: string | null;
}

/** A channel in a page of channels: a summary, and the figure that the page is sorted by. */
export interface ListedChannel extends ChannelSummary {
  viewCount?: number | null;
  /** Gains of subscribers over 1, 7 and 30 days; a loss is negative. */
  dailyGain?: number | null;
  weeklyGain?: number | null;
  monthlyGain?: number | null;
  /** Gains of views over 1, 7 and 30 days. */
  dailyViews?: number | null;
  weeklyViews?: number | null;
  monthlyViews?: number | null;
}

/** The response of `GET /api/video/channels`; a page of the list has `pagination`. */
export interface ChannelList {
  channels: ListedChannel[];
  pagination?: CursorPagination;
}

/** The response of `GET /api/video/{channel}/details`. */
export interface ChannelDetails {
  id: string;
  username: string | null;
  displayName: string | null;
  description: string | null;
  subscribers: number | null;
  videoCount: number | null;
  viewCount: number | null;
  /** An instant, `2026-11-20T08:15:30.123Z`. */
  joinedAt: string | null;
  /** A short country code. */
  country: string | null;
  thumbnail: string | null;
  bannerImage: string | null;
  /** Gains of subscribers; `null` if no observation is old enough to compare with. */
  statistics: {
    dailySubscriberGain: number | null;
    weeklySubscriberGain: number | null;
    monthlySubscriberGain: number | null;
  };
}

/** A short in a page of shorts. */
export interface ShortSummary {
  id: string;
  title: string | null;
  thumbnail: string | null;
  publishedAt: string;
  views: number | null;
  likes: number | null;
  comments: number | null;
}

/** The response of `GET /api/video/{channel}/shorts`, newest first. */
export interface ShortsPage {
  /** The channel's username, or its identifier if no source reported a username. */
  channel: string;
  shorts: ShortSummary[];
  pagination: CursorPagination;
}

/** The response of `GET /api/video/{channel}/short/{short_id}`. */
export interface ShortDetails {
  id: string;
  title: string | null;
  description: string | null;
  publishedAt: string;
  metrics: {
    views: number | null;
    likes: number | null;
    comments: number | null;
    shares: number | null;
  };
  /** Oldest first. */
  history: {
    timestamp: string;
    views: number | null;
    likes: number | null;
    comments: number | null;
  }[];
}
