/**
 * Creates a self-signed X.509 certificate. Libraries that do this bring a dozen packages or more;
 * this one certificate needs only a few structures of DER, the encoding of X.509 (RFC 5280).
 */
import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import type { PeerCertificate } from "../store/database/peer-certificate.ts";

/** The tags of DER values. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
} as const;

/** Object identifiers, encoded. */
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

const NAME = "creator-metrics";

/**
 * It is valid at any time, because the clocks of the machines may be wrong: whether it is accepted
 * depends on the database alone.
 */
const NOT_BEFORE = "000101000000Z";
const NOT_AFTER = "99991231235959Z";

type Bytes = Uint8Array | readonly number[] | string;

/** Encodes a value of DER: its tag, its length and its content. */
function encode(tag: keyof typeof TAG, ...parts: readonly Bytes[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)));
  const { length } = content;
  const longLength = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const header = [TAG[tag], ...(length < 0x80 ? [length] : longLength)];
  return Buffer.concat([Buffer.from(header), content]);
}

/** Creates a key and its certificate, which is its own authority. */
export function createPeerCertificate(): PeerCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = encode("sequence", encode("objectIdentifier", ECDSA_WITH_SHA256));
  const commonName = encode(
    "sequence",
    encode("objectIdentifier", COMMON_NAME),
    encode("utf8String", NAME),
  );
  const name = encode("sequence", encode("set", commonName));
  const isAuthority = encode("sequence", encode("boolean", [0xff]));
  const constraints = encode(
    "sequence",
    encode("objectIdentifier", BASIC_CONSTRAINTS),
    encode("boolean", [0xff]),
    encode("octetString", isAuthority),
  );
  // The number is positive: its first byte is below 0x80, and not 0.
  const serialNumber = Buffer.concat([Buffer.from([0x40]), randomBytes(15)]);
  const body = encode(
    "sequence",
    encode("version", encode("integer", [2])),
    encode("integer", serialNumber),
    algorithm,
    name,
    encode("sequence", encode("utcTime", NOT_BEFORE), encode("generalizedTime", NOT_AFTER)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    encode("extensions", encode("sequence", constraints)),
  );
  const signature = encode("bitString", [0], sign("sha256", body, privateKey));
  const certificate = new X509Certificate(encode("sequence", body, algorithm, signature));
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: certificate.toString(),
  };
}
