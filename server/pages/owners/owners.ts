/** Implements the pages of channels with shorts, and of users with tweets: requests and fields. */
import type { Listing, MicroblogClient, VideoClient } from "../../../core/client/mod.ts";
import type { ComparisonTable, HistoryPage } from "../../../core/histories.ts";
import type { PageSource } from "../hooks.ts";
import type { Pictured } from "../pictures.ts";
import { findChannelLink, findShortLink, findUserLink } from "../platform-links.ts";
import { rememberOwner } from "../picker/known-owners.ts";
import type { ListedOwner, OwnerPages, OwnerRow } from "./owner-pages.ts";

const CHANNEL_PAGES: OwnerPages = {
  kind: "channel",
  path: "channels",
  itemKind: "short",
  itemPath: "shorts",
  listedCounts: ["subscribers", "viewCount"],
  roundedCount: "subscribers",
  hasCountry: true,
  emptyHint: "The operator imports observations, or lets the service collect channels.",
  emptyLink: { href: "/admin#collection", label: "Open the administrator's page" },
  items: {
    emptyText: "No short of this channel was observed yet.",
    publishedLabel: "Published",
    hasTitles: true,
  },
  openList({ video }, { fields = [], min, ...query }) {
    const columns = ["username", "displayName", "country", "thumbnail", ...fields];
    // The service checks the names of fields and sorts.
    const [names, filters] = [columns, { ...query, minSubscribers: min }] as ListArguments<
      VideoClient["channelTable"]
    >;
    return createPageSource(video.channelTable(names, filters), ({ channels, pagination }) => ({
      items: channels.map((row) => ({
        ...listChannel({ ...row, thumbnail: row.thumbnail ?? null, ...readNames(row) }),
        ...readRow(row),
      })),
      hasMore: pagination.hasMore,
    }));
  },
  findLink: findChannelLink,
  openHistory: ({ video }, [channel, short], query) =>
    short === undefined
      ? openHistory(video.history(channel, query))
      : openHistory(video.shortHistory(channel, short, query)),
  async read({ video }, name) {
    const { body, observedAt } = await video.channel(name);
    const { id, username, joinedAt, description, country, statistics } = body;
    return {
      ...listChannel(body),
      username: username ?? id,
      since: joinedAt,
      observedAt,
      description,
      note: country,
      gains: {
        daily: statistics.dailySubscriberGain,
        weekly: statistics.weeklySubscriberGain,
        monthly: statistics.monthlySubscriberGain,
      },
    };
  },
  async readItem({ video }, channel, short) {
    const { body, observedAt } = await video.short(channel, short);
    const { id, title, description: text, publishedAt, metrics: counts } = body;
    return {
      id,
      title: title ?? id,
      text,
      publishedAt,
      observedAt,
      counts,
      ownerLabel: "The channel",
      picture: { kind: "short", id },
      link: findShortLink(channel, id),
    };
  },
  compare({ video }, names, query) {
    // The service checks the count.
    const listing = video.compare(names, query as Parameters<VideoClient["compare"]>[1]);
    return readComparison(listing, ({ channels }) =>
      channels.map((named) => ({ name: named.name, label: named.found ? named.channel : null })),
    );
  },
};

const USER_PAGES: OwnerPages = {
  kind: "user",
  path: "users",
  itemKind: "tweet",
  itemPath: "tweets",
  listedCounts: ["followers_count", "tweet_count"],
  hasCountry: false,
  emptyHint: "Add creators to the monitoring list: the service then collects them.",
  emptyLink: { href: "/creators", label: "Open the monitoring list" },
  items: {
    emptyText: "No tweet of this user was observed yet.",
    publishedLabel: "Created",
    hasTitles: false,
  },
  openList({ microblog }, { fields = [], min, ...query }) {
    const columns = ["displayName", "profile_image_url", ...fields];
    // The service checks the names of fields and sorts.
    const [names, filters] = [columns, { ...query, minFollowers: min }] as ListArguments<
      MicroblogClient["userTable"]
    >;
    return createPageSource(microblog.userTable(names, filters), ({ users, pagination }) => ({
      items: users.map((row) => ({
        ...listUser({
          ...row,
          displayName: row.displayName ?? null,
          profile_image_url: row.profile_image_url ?? null,
        }),
        ...readRow(row),
      })),
      hasMore: pagination.hasMore,
    }));
  },
  findLink: (username, items) =>
    items
      .map(({ link }) => findUserLink(username, link?.href ?? null))
      .find((link) => link !== undefined),
  openHistory: ({ microblog }, [username, tweet], query) =>
    tweet === undefined
      ? openHistory(microblog.history(username, query))
      : openHistory(microblog.tweetHistory(username, tweet, query)),
  async read({ microblog }, name) {
    const { body, observedAt } = await microblog.user(name);
    const { username, created_at, description, verified } = body;
    return {
      ...listUser(body),
      username,
      since: created_at,
      observedAt,
      description,
      note: verified === true ? "verified" : null,
    };
  },
  async readItem({ microblog }, owner, name) {
    const { body, observedAt } = await microblog.tweet(owner, name);
    const { username, tweet } = body;
    const { id, created_at: publishedAt, metrics: counts } = tweet;
    // The page shows an empty text as unknown.
    const text = tweet.text ?? "";
    return {
      id,
      title: `Tweet ${id}`,
      text,
      publishedAt,
      observedAt,
      counts,
      ownerLabel: username,
      picture: { kind: "user", id: username },
    };
  },
  compare({ microblog }, names, query) {
    // The service checks the count.
    const listing = microblog.compare(names, query as Parameters<MicroblogClient["compare"]>[1]);
    return readComparison(listing, ({ users }) =>
      users.map((named) => ({ name: named.name, label: named.found ? named.username : null })),
    );
  },
};

export const OWNERS = [CHANNEL_PAGES, USER_PAGES] as const;

/** The fields and the query of a list. */
type ListArguments<Method extends (...values: never[]) => unknown> = [
  Parameters<Method>[0],
  Parameters<Method>[1],
];

type Named = Readonly<Record<"username" | "displayName", string | null>>;

const readNames = ({ username = null, displayName = null }: Partial<Named>): Named => ({
  username,
  displayName,
});

const readRow = ({
  observedAt = null,
  trend = [],
}: Partial<Pick<OwnerRow, "observedAt" | "trend">>) => ({ observedAt, trend });

function listOwner(owner: Named, { id, ...picture }: Pictured): ListedOwner {
  const { username, displayName } = owner;
  const name = displayName ?? username ?? id;
  const listed = { id, name, username, counts: owner, picture: { id, ...picture } };
  return rememberOwner(picture.kind === "channel" ? "channel" : "user", listed);
}

const listChannel = (channel: Named & Readonly<{ id: string; thumbnail: string | null }>) =>
  listOwner(channel, { kind: "channel", id: channel.id, link: channel.thumbnail });

const listUser = (user: Named & Readonly<{ username: string; profile_image_url: string | null }>) =>
  listOwner(user, { kind: "user", id: user.username, link: user.profile_image_url });

/** Reads a listing page by page. */
export function createPageSource<Item, Page>(
  listing: Listing<unknown, Page>,
  readPage: (page: Page) => Awaited<ReturnType<PageSource<Item>>>,
): PageSource<Item> {
  const pages = listing.pages();
  return async () => {
    const { done, value } = await pages.next();
    return done === true ? undefined : readPage(value.body);
  };
}

const openHistory = <Counts extends object>(listing: Listing<unknown, HistoryPage<Counts>>) =>
  createPageSource(listing, ({ history, pagination: { hasMore } }) => ({
    items: history,
    hasMore,
  }));

/** Reads the first page of a comparison: no range of these pages needs a second page. */
async function readComparison<Page extends ComparisonTable, Owners>(
  listing: Listing<unknown, Page>,
  getOwners: (page: Page) => Owners,
) {
  const readAt = Date.now();
  for await (const { body } of listing.pages()) {
    return { owners: getOwners(body), rows: body.rows, readAt };
  }
  throw new Error("The comparison has no page");
}
