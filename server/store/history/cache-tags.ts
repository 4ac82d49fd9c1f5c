/** What answers depend on, by name: whom a change of the data is about. */

/** A user with all that is theirs. @param id The username in lower case. */
export const createUserTag = (id: string) => `user ${id}`;

/** A channel with all that is its own. */
export const createChannelTag = (id: string) => `channel ${id}`;

/** Some channel: what the list shows, and whom a username means. */
export const CHANNELS_TAG = "channels";
