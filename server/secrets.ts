/** Generates and hashes secrets of clients, such as API keys; the database has no whole secret. */

import { timingSafeEqual } from "node:crypto";

/** Characters of a secret that are stored in clear, so that people can tell secrets apart. */
const CLEAR_CHARACTERS = 10;

/** Generates a secret of 256 random bits. People and scanners recognize secrets by the prefix. */
export function generateSecret(prefix: string) {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const secret = prefix + random.toBase64({ alphabet: "base64url", omitPadding: true });
  return { secret, hash: hashSecret(secret), beginsWith: secret.slice(0, CLEAR_CHARACTERS) };
}

export const hashSecret = (secret: string): string =>
  new Bun.CryptoHasher("sha256").update(secret).digest("hex");

/** Whether a text is the secret with this hash. The time of the comparison tells nothing of it. */
export const isSecret = (presented: string, hash: string): boolean =>
  timingSafeEqual(Buffer.from(hash), Buffer.from(hashSecret(presented)));
