/** The source X: its settings, and the form of its usernames. */
import type { Source } from "../collector.ts";

/** X refuses a whole request if one username has another form. */
const USERNAME_PATTERN = /^\w{1,15}$/;

export const X = {
  name: "x",
  title: "X",
  platform: "microblog",
  url: { default: "https://api.x.com", description: "The URL of the X API" },
  credential: { name: "X_BEARER_TOKEN", description: "The token for the X API" },
  explainInvalidUsername: (username) =>
    USERNAME_PATTERN.test(username)
      ? undefined
      : `X has no user ${username}: usernames there have 1 to 15 letters, digits and _`,
} as const satisfies Source;
