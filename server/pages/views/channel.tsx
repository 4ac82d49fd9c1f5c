/** A channel: its figures, its history and its shorts. */
import type { ChannelDetails, ShortSummary } from "../../../core/resources/generated/types.ts";
import { usePages, useRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { CompareLink } from "../parts/compare-link.tsx";
import { describeLoaded, MoreButton } from "../parts/controls.tsx";
import { Change, Count, Figures, Instant, RoundedCount, Text } from "../parts/figures.tsx";
import { History } from "../parts/history.tsx";
import { Profile } from "../parts/profile.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

const COUNTS = { subscribers: "Subscribers", viewCount: "Views", videoCount: "Videos" };

export function Channel({ channel }: { readonly channel: string }) {
  const read = useRead(`channel ${channel}`, ({ video }) => video.channel(channel));
  return (
    <Reading read={read}>
      {(details) => (
        <>
          <Profile
            name={details.displayName ?? details.username ?? details.id}
            username={details.username ?? details.id}
            since={details.joinedAt}
            description={details.description}
            action={<CompareLink kind="channels" name={pickComparable(details)} />}
          >
            {details.country !== null && (
              <>
                {" · "}
                <Text value={details.country} />
              </>
            )}
          </Profile>
          <Figures
            items={[
              ["Subscribers", <RoundedCount value={details.subscribers} />],
              ["Views", <Count value={details.viewCount} />],
              ["Videos", <Count value={details.videoCount} />],
              ["Subscribers in a day", <Change value={details.statistics.dailySubscriberGain} />],
              ["In a week", <Change value={details.statistics.weeklySubscriberGain} />],
              ["In 30 days", <Change value={details.statistics.monthlySubscriberGain} />],
            ]}
          />
          <History
            name={`channel ${details.id}`}
            counts={COUNTS}
            gains={{
              "7d": details.statistics.weeklySubscriberGain,
              "30d": details.statistics.monthlySubscriberGain,
            }}
            createListing={({ video }, query) => video.history(details.id, query)}
          />
          <Shorts channel={details.id} />
        </>
      )}
    </Reading>
  );
}

/** A comparison separates names by commas. */
function pickComparable({ username, id }: ChannelDetails): string {
  return username === null || username.includes(",") ? id : username;
}

function Shorts({ channel }: { readonly channel: string }) {
  const read = usePages(
    `shorts ${channel}`,
    ({ video }) => video.shorts(channel, { limit: 50 }),
    ({ shorts }) => shorts,
    ({ pagination }) => pagination.hasMore,
  );
  const columns: Column<ShortSummary>[] = [
    {
      label: "Short",
      getValue: ({ title }) => title,
      render: ({ id, title, publishedAt }) => (
        <>
          <a href={createPath("channels", channel, "shorts", id)}>
            <Text value={title ?? id} />
          </a>
          <small class="narrow muted">
            <Instant value={publishedAt} hasTime={false} />
          </small>
        </>
      ),
    },
    {
      label: "Published",
      isWide: true,
      getValue: ({ publishedAt }) => publishedAt,
      render: ({ publishedAt }) => <Instant value={publishedAt} />,
    },
    ...(["views", "likes", "comments"] as const).map((field) => ({
      label: field.charAt(0).toUpperCase() + field.slice(1),
      isNumeric: true,
      getValue: (short: ShortSummary) => short[field],
      render: (short: ShortSummary) => <Count value={short[field]} />,
    })),
  ];
  return (
    <section aria-labelledby="shorts">
      <h2 id="shorts">Shorts</h2>
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 ? (
            <Empty>No short of this channel was observed yet.</Empty>
          ) : (
            <>
              <Table
                caption={describeLoaded("Shorts", list)}
                columns={columns}
                items={list.items}
                getKey={({ id }) => id}
              />
              <MoreButton list={list} />
            </>
          )
        }
      </Reading>
    </section>
  );
}
