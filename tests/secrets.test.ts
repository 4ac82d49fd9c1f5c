import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { generateSecret, hashSecret } from "../server/secrets.ts";

describe("generateSecret()", () => {
  test("returns a secret of 256 random bits and its SHA-256", () => {
    const generated = Array.from({ length: 1000 }, () => generateSecret("cm_"));
    expect(new Set(generated.map(({ secret }) => secret)).size).toBe(1000);
    for (const { secret, hash, beginsWith } of generated) {
      expect(secret).toStartWith("cm_");
      expect(Buffer.from(secret.slice(3), "base64url").length).toBe(32);
      expect(hash).toBe(createHash("sha256").update(secret).digest("hex"));
      expect(hash).toBe(hashSecret(secret));
      expect([secret.startsWith(beginsWith), beginsWith.length]).toEqual([true, 10]);
    }
  });
});
