/**
 * Whether a caller has the token of a Worker that is one program's alone.
 *
 * @module
 */

/** Compares digests, so that the time it takes says nothing about the token. Without a token nobody is let in. */
export async function isAllowed(
  request: Request,
  { ACCESS_TOKEN }: { readonly ACCESS_TOKEN?: string | undefined },
): Promise<boolean> {
  if (!ACCESS_TOKEN) return false;
  const digest = async (text: string): Promise<Uint8Array> =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const given = await digest(request.headers.get("authorization") ?? "");
  const wanted = await digest(`Bearer ${ACCESS_TOKEN}`);
  return given.every((byte, index) => byte === wanted[index]);
}
