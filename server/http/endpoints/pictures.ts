/**
 * The endpoint of pictures. It needs a key, so the pages fetch a picture and show it as a blob:
 * strangers neither learn which creators are stored nor make the service send requests. It takes
 * no link, only names of stored entities, so it is no proxy. It has a rate limit of its own, and
 * one for each key: a page shows many pictures, which should not use up the requests of a key.
 */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, DomainError, quoteValue } from "../../../core/errors.ts";
import { PICTURE_FIELDS, type PicturedKind } from "../../../core/kinds.ts";
import {
  IDENTIFIER_MAX_CHARACTERS,
  PICTURE_MAX_BYTES,
  PICTURE_MAX_PIXELS,
} from "../../../core/limits.ts";
import { DAY_MS } from "../../../core/time.ts";
import { matchesEntityTag } from "../cache-headers.ts";
import { defineFree, type FreeEndpoint } from "./endpoint.ts";

const KINDS = Object.keys(PICTURE_FIELDS);

const isPicturedKind = (kind: string): kind is PicturedKind => KINDS.includes(kind);

const formatCount = (count: number): string => count.toLocaleString("en-US");

/** The picture comes from outside: nothing in it may run, whatever a browser takes it for. */
const PICTURE_HEADERS = {
  "cache-control": `private, max-age=${DAY_MS / 1000}`,
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;

export const PICTURE_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "getPicture",
    operation: "GET /api/pictures/{kind}/{id}",
    part: "Pictures",
    summary: "The picture of a channel, a short or a user",
    description:
      "The image at the stored link (thumbnail, profile_image_url), if it is a PNG, JPEG, WebP or " +
      `GIF of at most ${formatCount(PICTURE_MAX_BYTES)} bytes and ` +
      `${formatCount(PICTURE_MAX_PIXELS)} pixels. The service fetches it, and keeps it for a day ` +
      "at most. Pictures are not counted as requests of the key, but have a limit of their own.",
    parameters: {
      kind: Type.String({
        enum: KINDS,
        description: "The kind of the entity.",
        examples: ["user"],
      }),
      id: Type.String({
        minLength: 1,
        maxLength: IDENTIFIER_MAX_CHARACTERS,
        description: "The identifier of the channel or short, or the username of the user.",
        examples: ["bsky.app"],
      }),
    },
    result: {
      schema: Type.String({ contentMediaType: "image/*", format: "binary" }),
      description: "The picture",
      headers: ["ETag"],
    },
    errors: {
      "Invalid Request": `kind must be one of ${KINDS.join(", ")}, got "tweet"`,
      "Not Found": "There is no picture of user nobody",
      "Service Unavailable": "Too many pictures are being fetched; try again",
    },
    examples: { response: "(the bytes of the image)" },
    createHandler:
      ({ pictures }) =>
      async ({ request, parameters: { kind = "", id = "" }, headers }) => {
        if (!isPicturedKind(kind)) {
          const allowed = `kind must be one of ${KINDS.join(", ")}`;
          throw createInvalidRequestError(`${allowed}, got ${quoteValue(kind)}`);
        }
        const picture = await pictures?.read(kind, id);
        if (picture === undefined) {
          throw new DomainError("Not Found", `There is no picture of ${kind} ${id}`);
        }
        const { blob, etag } = picture;
        Object.assign(headers, PICTURE_HEADERS, { etag });
        const ifNoneMatch = request.headers.get("if-none-match");
        if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, etag)) {
          return new Response(null, { status: 304 });
        }
        // For HEAD, Bun sends no type of a blob.
        headers["content-type"] = blob.type;
        return new Response(blob);
      },
  }),
];
