/** A user: their figures, their followers over time and their tweets. */
import type { TweetRecord } from "../../../core/resources/generated/types.ts";
import { usePages, useRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { CompareLink } from "../parts/compare-link.tsx";
import { describeLoaded, MoreButton } from "../parts/controls.tsx";
import { Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { History } from "../parts/history.tsx";
import { Profile } from "../parts/profile.tsx";
import { Sparkline } from "../charts/sparkline.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

const COUNTS = {
  followers_count: "Followers",
  following_count: "Following",
  tweet_count: "Tweets",
};

const PAGE_TWEETS = 50;

/** How far back the tweets go. */
const TWEET_DAYS = 14;

export function User({ username }: { readonly username: string }) {
  const read = useRead(`user ${username}`, ({ microblog }) => microblog.user(username));
  return (
    <Reading read={read}>
      {(details) => (
        <>
          <Profile
            name={details.displayName ?? details.username}
            username={details.username}
            since={details.created_at}
            description={details.description}
            action={<CompareLink kind="users" name={details.username} />}
          >
            {details.verified === true && " · verified"}
          </Profile>
          <Figures
            items={[
              ["Followers", <Count value={details.followers_count} />],
              ["Following", <Count value={details.following_count} />],
              ["Tweets", <Count value={details.tweet_count} />],
            ]}
          />
          <History
            name={`user ${details.username}`}
            counts={COUNTS}
            createListing={({ microblog }, query) => microblog.history(username, query)}
          />
          <Tweets username={username} />
        </>
      )}
    </Reading>
  );
}

type ListedTweet = readonly [id: string, tweet: TweetRecord];

function Tweets({ username }: { readonly username: string }) {
  const read = usePages(
    `tweets ${username}`,
    ({ microblog }) => microblog.tweets(username, { days: TWEET_DAYS, limit: PAGE_TWEETS }),
    ({ tweets }) => Object.entries(tweets),
    ({ pagination }) => pagination.has_more,
    ({ pagination }) => pagination.total,
  );
  const columns: Column<ListedTweet>[] = [
    {
      label: "Tweet",
      render: ([id, { text, created_at }]) => (
        <>
          <a href={createPath("users", username, "tweets", id)}>
            <Text value={text ?? id} />
          </a>
          <small class="narrow muted">
            <Instant value={created_at} hasTime={false} />
          </small>
        </>
      ),
    },
    {
      label: "Created",
      isWide: true,
      getValue: ([, { created_at }]) => created_at,
      render: ([, { created_at }]) => <Instant value={created_at} />,
    },
    ...(["views", "likes", "retweets", "replies"] as const).map((field) => ({
      label: field.charAt(0).toUpperCase() + field.slice(1),
      isNumeric: true,
      getValue: ([, { metrics }]: ListedTweet) => metrics.at(-1)?.[field] ?? null,
      render: ([, { metrics }]: ListedTweet) => <Count value={metrics.at(-1)?.[field]} />,
    })),
    {
      label: "Likes over time",
      render: ([id, { metrics }]) => (
        <Sparkline
          values={metrics.map(({ likes }) => likes)}
          // Here alone, an instant has no zone.
          instants={metrics.map(({ timestamp }) => Date.parse(`${timestamp}Z`))}
          label={`Likes of tweet ${id}`}
        />
      ),
    },
  ];
  return (
    <section aria-labelledby="tweets">
      <h2 id="tweets">Tweets of the last {TWEET_DAYS} days</h2>
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 ? (
            <Empty>No tweet of the last {TWEET_DAYS} days was observed.</Empty>
          ) : (
            <>
              <Table
                caption={describeLoaded("Tweets", list)}
                columns={columns}
                items={list.items}
                getKey={([id]) => id}
              />
              <MoreButton list={list} pageSize={PAGE_TWEETS} />
            </>
          )
        }
      </Reading>
    </section>
  );
}
