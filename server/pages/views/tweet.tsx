/** A tweet: its figures and its history. */
import { useRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { Heading } from "../parts/profile.tsx";
import { History } from "../parts/history.tsx";
import { Reading } from "../parts/states.tsx";

const COUNTS = {
  likes: "Likes",
  impressions: "Views",
  retweets: "Retweets",
  replies: "Replies",
  quotes: "Quotes",
};

export function Tweet({ username, id }: { readonly username: string; readonly id: string }) {
  const read = useRead(`tweet ${username} ${id}`, ({ microblog }) => microblog.tweet(username, id));
  return (
    <Reading read={read}>
      {({ username: author, tweet }) => (
        <>
          <p>
            <a href={createPath("users", username)}>
              ← <Text value={author} />
            </a>
          </p>
          <Heading text={`Tweet ${tweet.id}`} />
          <p class="description">
            <Text value={tweet.text} />
          </p>
          <p class="muted">
            Created <Instant value={tweet.created_at} />
          </p>
          <Figures
            items={[
              ["Likes", <Count value={tweet.metrics.likes} />],
              ["Views", <Count value={tweet.metrics.impressions} />],
              ["Retweets", <Count value={tweet.metrics.retweets} />],
              ["Replies", <Count value={tweet.metrics.replies} />],
              ["Quotes", <Count value={tweet.metrics.quotes} />],
            ]}
          />
          <History
            name={`tweet ${tweet.id}`}
            counts={COUNTS}
            publishedAt={tweet.created_at}
            createListing={({ microblog }, query) => microblog.tweetHistory(username, id, query)}
          />
        </>
      )}
    </Reading>
  );
}
