/** The source X: its settings, and the form of its usernames. */
import type { Source } from "../collector.ts";

export const X = {
  name: "x",
  title: "X",
  platform: "microblog",
  url: { default: "https://api.x.com", description: "The URL of the X API" },
  credential: { name: "X_BEARER_TOKEN", description: "The token for the X API" },
  // X refuses a whole request if one username has another form.
  explainInvalidUsername: (username) =>
    /^\w{1,15}$/.test(username)
      ? undefined
      : `X has no user ${username}: usernames there have 1 to 15 letters, digits and _`,
} as const satisfies Source;
