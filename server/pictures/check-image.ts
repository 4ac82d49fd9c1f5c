/**
 * Checks that bytes are an image of the type that a host names, and how many pixels it has. Only
 * the header is decoded.
 */
import { PICTURE_MAX_PIXELS } from "../../core/limits.ts";
import { readSystemErrorCode } from "../system-errors.ts";

/**
 * The types that are served, by the name of their format. SVG is not: it can have scripts. AVIF is
 * not: its header can be read on some systems only.
 */
const FORMATS: Readonly<Record<string, Bun.Image.Format>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/webp": "webp",
  "image/gif": "gif",
};

export const IMAGE_TYPES: readonly string[] = Object.keys(FORMATS);

/** Returns the type that a header `Content-Type` names; `undefined` for a type that is not served. */
export function parseImageType(contentType: string | undefined): string | undefined {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  return IMAGE_TYPES.find((name) => name === type);
}

/** @returns What is wrong with an image; `undefined` for one that can be served. */
export async function findImageProblem(
  bytes: Uint8Array,
  type: string,
): Promise<"type" | "size" | undefined> {
  try {
    const { format } = await new Bun.Image(bytes, { maxPixels: PICTURE_MAX_PIXELS }).metadata();
    if (format !== FORMATS[type]) return "type";
    return format === "gif" && isGifTooLarge(bytes) ? "size" : undefined;
  } catch (error) {
    return readSystemErrorCode(error) === "ERR_IMAGE_TOO_MANY_PIXELS" ? "size" : "type";
  }
}

/** Bun reads the size of the first frame, but browsers draw the whole screen around it. */
function isGifTooLarge({ buffer, byteOffset }: Uint8Array): boolean {
  const view = new DataView(buffer, byteOffset);
  return view.getUint16(6, true) * view.getUint16(8, true) > PICTURE_MAX_PIXELS;
}
