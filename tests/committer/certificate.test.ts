import { expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createPeerCertificate } from "../../server/committer/certificate.ts";

test("createPeerCertificate() creates a certificate of its key that verifies itself, valid at any time", () => {
  const [first, second] = [createPeerCertificate(), createPeerCertificate()];
  for (const { privateKey, certificate } of [first, second]) {
    const parsed = new X509Certificate(certificate);
    expect(parsed.checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.ca).toBe(true);
    expect([parsed.subject, parsed.issuer]).toEqual(["CN=creator-metrics", "CN=creator-metrics"]);
    expect(new Date(parsed.validFrom)).toEqual(new Date("2000-01-01T00:00:00Z"));
    expect(new Date(parsed.validTo)).toEqual(new Date("9999-12-31T23:59:59Z"));
  }
  const other = new X509Certificate(second.certificate);
  expect(other.verify(new X509Certificate(first.certificate).publicKey)).toBe(false);
  expect(other.serialNumber).not.toBe(new X509Certificate(first.certificate).serialNumber);
});
