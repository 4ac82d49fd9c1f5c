/** A short: its figures, its history and its rate of growth. */
import { useRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { Heading } from "../parts/profile.tsx";
import { History } from "../parts/history.tsx";
import { Reading } from "../parts/states.tsx";

const COUNTS = { views: "Views", likes: "Likes", comments: "Comments", shares: "Shares" };

export function Short({ channel, short }: { readonly channel: string; readonly short: string }) {
  const read = useRead(`short ${channel} ${short}`, ({ video }) => video.short(channel, short));
  return (
    <Reading read={read}>
      {(details) => (
        <>
          <p>
            <a href={createPath("channels", channel)}>← The channel</a>
          </p>
          <Heading text={details.title ?? details.id} />
          <p class="muted">
            Published <Instant value={details.publishedAt} />
          </p>
          {details.description !== null && (
            <p class="description">
              <Text value={details.description} />
            </p>
          )}
          <Figures
            items={[
              ["Views", <Count value={details.metrics.views} />],
              ["Likes", <Count value={details.metrics.likes} />],
              ["Comments", <Count value={details.metrics.comments} />],
              ["Shares", <Count value={details.metrics.shares} />],
            ]}
          />
          <History
            name={`short ${details.id}`}
            counts={COUNTS}
            publishedAt={details.publishedAt}
            createListing={({ video }, query) => video.shortHistory(channel, short, query)}
          />
        </>
      )}
    </Reading>
  );
}
