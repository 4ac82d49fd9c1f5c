/** The resources of `/api/video`. */

/** How far a listing goes that continues at a cursor. */
export interface CursorPagination {
  /** Whether a page follows. */
  hasMore: boolean;
  /** The `cursor` of the next page; `null` if `hasMore` is false. */
  nextCursor: string | null;
}

/** A channel in the list of channels. Counts are `null` if no source reported them. */
export interface ChannelSummary {
  /** Identifier on the platform. */
  id: string;
  /** Username, its @ symbol left out. */
  username: string | null;
  /** Name for people. */
  displayName: string | null;
  /** Subscribers. */
  subscribers: number | null;
  /** Videos. */
  videoCount: number | null;
  /** A URL, as the source reported it. */
  thumbnail: string | null;
}

/** A channel in a page of channels: a summary, and the figure that the page is sorted by. */
export interface ListedChannel extends ChannelSummary {
  /** Views of all videos. */
  viewCount?: number | null;
  /** Gains of subscribers over 1, 7 and 30 days; a loss is negative. */
  dailyGain?: number | null;
  /** Over 7 days. */
  weeklyGain?: number | null;
  /** Over 30 days. */
  monthlyGain?: number | null;
  /** Gains of views over 1, 7 and 30 days. */
  dailyViews?: number | null;
  /** Over 7 days. */
  weeklyViews?: number | null;
  /** Over 30 days. */
  monthlyViews?: number | null;
}

/** The response of `GET /api/video/channels`; a page of the list has `pagination`. */
export interface ChannelList {
  /** The channels. */
  channels: ListedChannel[];
  /** How far the listing goes. */
  pagination?: CursorPagination;
}

/** The response of `GET /api/video/{channel}/details`. */
export interface ChannelDetails {
  /** Identifier on the platform. */
  id: string;
  /** Username, its @ symbol left out. */
  username: string | null;
  /** Name for people. */
  displayName: string | null;
  /** Text about itself. */
  description: string | null;
  /** Subscribers. */
  subscribers: number | null;
  /** Videos. */
  videoCount: number | null;
  /** Views of all videos. */
  viewCount: number | null;
  /** An instant, `2026-11-20T08:15:30.123Z`. */
  joinedAt: string | null;
  /** A short country code. */
  country: string | null;
  /** URL of the image, as the source reported it. */
  thumbnail: string | null;
  /** URL of the banner, as the source reported it. */
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
  /** Identifier on the platform. */
  id: string;
  /** Title of the short. */
  title: string | null;
  /** URL of the image, as the source reported it. */
  thumbnail: string | null;
  /** When the short was published, `2026-11-20T08:15:30.123Z`. */
  publishedAt: string;
  /** Views. */
  views: number | null;
  /** Likes. */
  likes: number | null;
  /** Comments. */
  comments: number | null;
}

/** The response of `GET /api/video/{channel}/shorts`, newest first. */
export interface ShortsPage {
  /** The channel's username, or its identifier if no source reported a username. */
  channel: string;
  /** The shorts. */
  shorts: ShortSummary[];
  /** How far the listing goes. */
  pagination: CursorPagination;
}

/** The response of `GET /api/video/{channel}/short/{short_id}`. */
export interface ShortDetails {
  /** Identifier on the platform. */
  id: string;
  /** Title of the short. */
  title: string | null;
  /** Text about itself. */
  description: string | null;
  /** When the short was published, `2026-11-20T08:15:30.123Z`. */
  publishedAt: string;
  /** The newest counts. */
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
