/** Cache tags: the names of what cached responses depend on, and of what a change affects. */

/** A user with everything of theirs. @param id The username in lower case. */
export const createUserTag = (id: string) => `user ${id}`;

/** A channel with everything of its own. */
export const createChannelTag = (id: string) => `channel ${id}`;

/** The list of all channels, and which channel has a username. */
export const CHANNELS_TAG = "channels";
