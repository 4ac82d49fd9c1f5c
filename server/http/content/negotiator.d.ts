/** Types of the parts of negotiator in use; `@types/negotiator` does not know `preferred`. */
declare module "negotiator" {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });

    mediaType(available: readonly string[]): string | undefined;

    /** @param options.preferred Decides between encodings that the client likes equally. */
    encoding(
      available: readonly string[],
      options: { readonly preferred: readonly string[] },
    ): string | undefined;
  }
}
